//! The lines of a block that an operation names by the line where it begins.

use std::cell::OnceCell;

use hashline_syntax::{Budget, NoBlock, NoBlockReason, SOURCE_LIMIT_BYTES, Source, language_of};

/// The blocks of one file. The first request parses it.
pub struct Blocks<'a> {
    path: &'a str,
    text: &'a [u8],
    budget: &'a Budget<'a>,
    parsed: OnceCell<BlockSource>,
}

/// The lines of a block, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSpan {
    /// Its first line, which is the first of the comments, attributes and decorators above it.
    pub first: u64,
    /// Its last line.
    pub last: u64,
}

/// Why no block begins at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingBlock {
    /// The reason, to be used after a colon.
    pub why: String,
    /// The nearest line above where a block begins.
    pub above: Option<u64>,
    /// The nearest line below where a block begins.
    pub below: Option<u64>,
}

impl<'a> Blocks<'a> {
    pub fn new(path: &'a str, text: &'a [u8], budget: &'a Budget<'a>) -> Blocks<'a> {
        Blocks { path, text, budget, parsed: OnceCell::new() }
    }

    /// The block that begins at a line, or to which the comment or attribute there belongs.
    pub fn at(&self, line: u64) -> Result<BlockSpan, MissingBlock> {
        let Blocks { path, text, budget, parsed } = self;
        parsed.get_or_init(|| BlockSource::of(path, text, budget)).block(line, budget)
    }
}

impl MissingBlock {
    fn because(why: &str) -> MissingBlock {
        MissingBlock { why: why.to_owned(), above: None, below: None }
    }
}

/// A parsed text, or why it could not be parsed.
enum BlockSource {
    Source(Box<Source>),
    None(String),
}

impl BlockSource {
    fn of(path: &str, text: &[u8], budget: &Budget<'_>) -> BlockSource {
        let Some(language) = language_of(path, text) else {
            return BlockSource::because("the language of the file is unknown");
        };
        if text.len() > SOURCE_LIMIT_BYTES {
            let limit = SOURCE_LIMIT_BYTES >> 10;
            return BlockSource::None(format!(
                "the file is longer than {limit} KiB and is not parsed"
            ));
        }
        match Source::parse(language, text, budget) {
            Some(source) => BlockSource::Source(Box::new(source)),
            None => BlockSource::because("parsing the file would take too long"),
        }
    }

    fn because(why: &str) -> BlockSource {
        BlockSource::None(why.to_owned())
    }

    fn block(&self, line: u64, budget: &Budget<'_>) -> Result<BlockSpan, MissingBlock> {
        match self {
            BlockSource::None(why) => Err(MissingBlock::because(why)),
            BlockSource::Source(source) => {
                let line = u32::try_from(line).unwrap_or(u32::MAX);
                let lines =
                    |(first, last)| BlockSpan { first: u64::from(first), last: u64::from(last) };
                let found =
                    source.block(line, budget).map(|block| lines((block.first, block.last)));
                found.map_err(missing_block)
            }
        }
    }
}

fn missing_block(none: NoBlock) -> MissingBlock {
    let NoBlock { reason, above, below } = none;
    let why = match reason {
        NoBlockReason::Shared => "its first or last line also contains other code".to_owned(),
        reason => reason.to_string(),
    };
    MissingBlock { why, above: above.map(u64::from), below: below.map(u64::from) }
}
