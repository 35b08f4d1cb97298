//! The table of lexicons: what the scanner, the words and the blocks of a language are.

/// What is a comment, a text, a bracket, a block and a definition in a language.
pub(crate) struct Lexicon {
    pub line_comments: &'static [&'static str],
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Whether block comments contain others.
    pub has_nested_comments: bool,
    /// Longer opening quotes first.
    pub quotes: &'static [Quote],
    pub brackets: &'static str,
    /// Characters of words besides letters, digits and `_`.
    pub word_bytes: &'static str,
    pub extras: &'static [Extra],
    pub facts: &'static [Fact],
    pub words: &'static [WordPair],
    pub ends: Ends,
    /// Words that begin a part of a statement.
    pub parts: &'static [&'static str],
    /// Words that continue a statement in a line of the same depth, but never begin one: a block that
    /// ends before one is not whole.
    pub continuing: &'static [&'static str],
    /// Words and marks after which indented lines are a block.
    pub openers: &'static [&'static str],
    /// Words whose block must be followed by one of some others.
    pub required: &'static [(&'static str, &'static [&'static str])],
    pub attributes: Attributes,
    /// Words before the name of a definition.
    pub definitions: &'static [&'static str],
    /// Those of them that can contain functions without such a word: `int area() {`.
    pub containers: &'static [&'static str],
}

/// A text in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    pub escape: Escape,
    pub is_multiline: bool,
    /// Code within the text: what opens it, and what closes it.
    pub codes: &'static [(&'static str, u8)],
    pub marks: Marks,
    /// A quote in this row only if exactly one character follows: `'a'`, `'\n'`.
    pub is_character: bool,
    /// Whether it is a name, not a text.
    pub is_name: bool,
}

/// Marks that precede a quote.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    None,
    /// As many `#` before it as after the closing one, and after the `\` of code: `#"\#(a)"#`.
    Around,
    /// As many `$` as braces begin code, and any number of quotes: `$$""""{{a}}""""`.
    Braces,
    /// As many `$` as begin code: `$$"$${a}"`.
    Dollars,
    /// Letters, without which there is no code: `s"${a}"`.
    Letters,
}

/// How a text contains its closing quote.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    None,
    /// After this character.
    After(u8),
    /// After a `\`, where `\z` skips whitespace.
    Lua,
    /// Twice.
    Doubled,
    /// Twice, and after a `\` unless the text ends there.
    Sql,
}

/// Other forms of texts and lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    /// Lines that begin with `#`, and continue after `\`.
    Preprocessor,
    /// Lines that begin with `#`.
    Directives,
    /// `R"x(…)x"`.
    RawStrings,
    /// `<<END`.
    HeredocsOfShells,
    /// `<<~END`, `%w[…]`, `/…/`, `?c`, `:"…"`, `=begin`, `__END__`.
    Ruby,
    /// `<<<END`, and text outside of `<?php … ?>`.
    Php,
    /// `<<END` and `<<-END` after `=`, `(` or `,`.
    HeredocsOfTerraform,
    /// `[==[…]==]` and `--[==[…]==]`.
    LongBrackets,
    /// `~r/…/`, `?c`.
    Sigils,
    /// `$tag$…$tag$` with code in it, `[name]`, `q'[…]'`, nested comments, `# comment`, commands of
    /// psql.
    Sql,
    /// `url(…)` without quotes.
    Urls,
    /// Instructions of Dockerfiles that run commands of Windows are texts.
    Instructions,
    /// `((…))` and `\c`; `#` begins a comment only at the start of a word.
    Shell,
    /// `/…/` where a value is expected.
    Slashes,
    /// `/…/` in a line where a value is expected.
    RegexesInLines,
    /// `\` at the end of a line continues it.
    Continuations,
    /// `'` within numbers.
    QuotesInNumbers,
    /// `\\` begins a text until the end of the line.
    BackslashLines,
}

/// What is true of the statements and definitions of a language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Statements are commands: braces group them where one begins, `|` and `&&` continue one, and a
    /// function is `name() {`.
    Commands,
    /// `;` does not end a statement.
    NoSemicolons,
    /// Commas separate what is in any braces.
    BracesAreLists,
    /// A definition can be `name = function`.
    AssignedFunctions,
    /// A `:` precedes the name of a method.
    ColonMethods,
    /// A definition is what precedes braces.
    Rules,
    /// Words are equal in any case, and some statements have parts that end with `;`.
    Clauses,
    /// A name can have marks: `def ==`.
    MarksInNames,
    /// Brackets can precede the name of a definition: `class [[a]] B`.
    BracketsBeforeNames,
    /// `then` must follow the condition of `if`.
    Then,
    /// Names follow `alias` and `undef`.
    Aliases,
    /// Commas separate the arms of `match`.
    ArmsWithCommas,
    /// A directive can end a statement.
    DirectivesEnd,
    /// A mark at the start of a line can begin a value: `:ok`, `-1`.
    MarksBeginValues,
}

/// A word that opens a block, and the one that closes it.
pub(crate) struct WordPair {
    pub open: &'static str,
    pub close: &'static str,
    pub when: When,
}

/// When a word opens a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Where a statement or value begins, not after a complete one: `return if done`.
    BeginsStatement,
    /// Where a command begins.
    IsCommand,
    /// Unless a loop precedes it in the statement: `while x do`.
    NotOfLoop,
    /// Unless `=` follows its name and parameters: `def area = 1`.
    NotShort,
}

/// Where a statement ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// At `;` or a block.
    Semicolons,
    /// At the end of a line.
    Lines,
    /// With its tag.
    Tags(Tags),
}

/// The rules of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    Xml,
    Html,
    /// The template of a component: all tags are closed, and scripts are parsed by a grammar.
    Vue,
    /// The same with `{#if}` and `{expression}`.
    Svelte,
}

/// What precedes a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    None,
    /// `@Name(…)`.
    At,
    /// `[Name(…)]`.
    Brackets,
    /// `#[Name(…)]`.
    HashBrackets,
    /// Whole statements that begin with `@doc`, `@spec` and so on.
    Elixir,
}

const fn quote(open: &'static str, close: &'static str, escape: Escape) -> Quote {
    Quote {
        open,
        close,
        escape,
        is_multiline: false,
        codes: &[],
        marks: Marks::None,
        is_character: false,
        is_name: false,
    }
}

const fn long(open: &'static str, close: &'static str, escape: Escape) -> Quote {
    Quote { is_multiline: true, ..quote(open, close, escape) }
}

const fn with(codes: &'static [(&'static str, u8)], quote: Quote) -> Quote {
    Quote { codes, ..quote }
}

const fn marked(marks: Marks, quote: Quote) -> Quote {
    Quote { marks, ..quote }
}

const fn name(quote: Quote) -> Quote {
    Quote { is_name: true, ..quote }
}

const fn pair(open: &'static str, close: &'static str, when: When) -> WordPair {
    WordPair { open, close, when }
}

const BACKSLASH: Escape = Escape::After(b'\\');
const DOUBLE: Quote = quote("\"", "\"", BACKSLASH);
const SINGLE: Quote = quote("'", "'", BACKSLASH);
const CHARACTER: Quote = Quote { is_character: true, ..SINGLE };
const LONG_DOUBLE: Quote = long("\"", "\"", BACKSLASH);
const LONG_SINGLE: Quote = long("'", "'", BACKSLASH);
const LONG_TRIPLE: Quote = long("\"\"\"", "\"\"\"", Escape::None);
const QUOTED_NAME: Quote = name(quote("`", "`", Escape::None));
const BACKTICK: Quote = long("`", "`", BACKSLASH);
const DOLLAR_BRACE: &[(&str, u8)] = &[("${", b'}')];
const HASH_BRACE: &[(&str, u8)] = &[("#{", b'}')];
const BACKSLASH_PARENTHESIS: &[(&str, u8)] = &[("\\(", b')')];
const BRACE: &[(&str, u8)] = &[("{", b'}')];
const IN_PHP: &[(&str, u8)] = &[("{$", b'}'), ("${", b'}')];
const IN_SHELL: &[(&str, u8)] = &[("$(", b')'), ("${", b'}')];

/// What most rows share: comments of C, brackets, statements that end with `;`.
const C_LIKE: Lexicon = Lexicon {
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    has_nested_comments: false,
    quotes: &[DOUBLE, SINGLE],
    brackets: "()[]{}",
    word_bytes: "$",
    extras: &[],
    facts: &[],
    words: &[],
    ends: Ends::Semicolons,
    parts: &[
        "else",
        "elif",
        "elseif",
        "catch",
        "finally",
        "default",
        "then",
        "do",
        "in",
        "case",
        "public",
        "private",
        "protected",
    ],
    continuing: &["else", "elsif", "elseif", "catch", "finally", "rescue", "ensure"],
    openers: &[],
    required: &[],
    attributes: Attributes::None,
    definitions: &[],
    containers: &[],
};

const TRY: &[(&str, &[&str])] = &[("try", &["catch", "finally"])];

pub(crate) static C: Lexicon = Lexicon { required: &[], ..CPP };

pub(crate) static CPP: Lexicon = Lexicon {
    facts: &[Fact::BracketsBeforeNames],
    extras: &[Extra::Preprocessor, Extra::RawStrings, Extra::QuotesInNumbers],
    required: &[("try", &["catch"])],
    definitions: &["class", "struct", "union", "enum", "namespace", "concept"],
    containers: &["class", "struct", "union", "namespace"],
    parts: &[
        "else",
        "catch",
        "default",
        "do",
        "case",
        "public",
        "private",
        "protected",
        "signals",
        "slots",
    ],
    ..C_LIKE
};

pub(crate) static CSHARP: Lexicon = Lexicon {
    required: TRY,
    quotes: &[
        marked(Marks::Braces, LONG_TRIPLE),
        with(BRACE, long("$@\"", "\"", Escape::Doubled)),
        with(BRACE, long("@$\"", "\"", Escape::Doubled)),
        long("@\"", "\"", Escape::Doubled),
        with(BRACE, quote("$\"", "\"", BACKSLASH)),
        DOUBLE,
        CHARACTER,
    ],
    word_bytes: "@",
    extras: &[Extra::Directives],
    attributes: Attributes::Brackets,
    definitions: &["class", "struct", "interface", "enum", "record", "namespace"],
    containers: &["class", "struct", "interface", "record", "namespace"],
    ..C_LIKE
};

pub(crate) static PHP: Lexicon = Lexicon {
    facts: &[Fact::ArmsWithCommas],
    required: TRY,
    line_comments: &["//", "#"],
    quotes: &[with(IN_PHP, LONG_DOUBLE), LONG_SINGLE, BACKTICK],
    extras: &[Extra::Php],
    attributes: Attributes::HashBrackets,
    definitions: &["class", "interface", "trait", "enum", "function"],
    ..C_LIKE
};

pub(crate) static RUBY: Lexicon = Lexicon {
    facts: &[Fact::MarksInNames, Fact::Aliases],
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[with(HASH_BRACE, LONG_DOUBLE), LONG_SINGLE, with(HASH_BRACE, BACKTICK)],
    word_bytes: "@$",
    extras: &[Extra::Ruby, Extra::Continuations],
    words: &[
        pair("def", "end", When::NotShort),
        pair("class", "end", When::Always),
        pair("module", "end", When::Always),
        pair("begin", "end", When::Always),
        pair("do", "end", When::NotOfLoop),
        pair("case", "end", When::Always),
        pair("if", "end", When::BeginsStatement),
        pair("unless", "end", When::BeginsStatement),
        pair("while", "end", When::BeginsStatement),
        pair("until", "end", When::BeginsStatement),
        pair("for", "end", When::BeginsStatement),
    ],
    ends: Ends::Lines,
    definitions: &["def", "class", "module"],
    parts: &[
        "else",
        "elsif",
        "rescue",
        "ensure",
        "when",
        "then",
        "do",
        "in",
        "public",
        "private",
        "protected",
    ],
    ..C_LIKE
};

pub(crate) static KOTLIN: Lexicon = Lexicon {
    required: TRY,
    has_nested_comments: true,
    quotes: &[
        marked(Marks::Dollars, with(DOLLAR_BRACE, LONG_TRIPLE)),
        marked(Marks::Dollars, with(DOLLAR_BRACE, DOUBLE)),
        CHARACTER,
        QUOTED_NAME,
    ],
    ends: Ends::Lines,
    attributes: Attributes::At,
    definitions: &["class", "interface", "object", "fun", "typealias"],
    ..C_LIKE
};

pub(crate) static SWIFT: Lexicon = Lexicon {
    has_nested_comments: true,
    quotes: &[
        long("#/", "/#", BACKSLASH),
        marked(Marks::Around, with(BACKSLASH_PARENTHESIS, long("\"\"\"", "\"\"\"", BACKSLASH))),
        marked(Marks::Around, with(BACKSLASH_PARENTHESIS, DOUBLE)),
        QUOTED_NAME,
    ],
    extras: &[Extra::Directives, Extra::RegexesInLines],
    ends: Ends::Lines,
    attributes: Attributes::At,
    definitions: &[
        "class",
        "struct",
        "enum",
        "protocol",
        "extension",
        "actor",
        "func",
        "init",
        "typealias",
    ],
    ..C_LIKE
};

pub(crate) static SHELL: Lexicon = Lexicon {
    facts: &[Fact::Commands, Fact::Then],
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[
        long("$'", "'", BACKSLASH),
        with(IN_SHELL, LONG_DOUBLE),
        long("'", "'", Escape::None),
        with(IN_SHELL, BACKTICK),
    ],
    brackets: "(){}",
    word_bytes: "-.:/+@%^",
    extras: &[Extra::Shell, Extra::HeredocsOfShells, Extra::Continuations],
    words: &[
        pair("if", "fi", When::IsCommand),
        pair("case", "esac", When::IsCommand),
        pair("do", "done", When::IsCommand),
    ],
    ends: Ends::Lines,
    definitions: &["function"],
    parts: &["else", "elif", "then", "do", "in"],
    ..C_LIKE
};

pub(crate) static DOCKERFILE: Lexicon = Lexicon {
    facts: &[Fact::Commands, Fact::Then, Fact::NoSemicolons],
    brackets: "()",
    extras: &[Extra::Instructions, Extra::Shell, Extra::HeredocsOfShells, Extra::Continuations],
    definitions: &["AS", "as"],
    ..SHELL
};

pub(crate) static SCSS: Lexicon = Lexicon {
    facts: &[Fact::Rules],
    word_bytes: "-$.@%&:*>+~",
    extras: &[Extra::Urls],
    parts: &[],
    continuing: &["@else"],
    ..C_LIKE
};

pub(crate) static LUA: Lexicon = Lexicon {
    facts: &[Fact::BracesAreLists, Fact::AssignedFunctions, Fact::ColonMethods, Fact::Then],
    line_comments: &["--"],
    block_comments: &[],
    quotes: &[quote("\"", "\"", Escape::Lua), quote("'", "'", Escape::Lua)],
    extras: &[Extra::LongBrackets],
    words: &[
        pair("function", "end", When::Always),
        pair("do", "end", When::Always),
        pair("if", "end", When::Always),
        pair("repeat", "until", When::Always),
    ],
    ends: Ends::Lines,
    definitions: &["function"],
    parts: &["else", "elseif", "then", "do", "in"],
    ..C_LIKE
};

pub(crate) static TERRAFORM: Lexicon = Lexicon {
    line_comments: &["#", "//"],
    quotes: &[with(&[("${", b'}'), ("%{", b'}')], DOUBLE)],
    word_bytes: "-",
    extras: &[Extra::HeredocsOfTerraform],
    ends: Ends::Lines,
    definitions: &["resource", "data", "module", "variable", "output", "provider"],
    parts: &[],
    ..C_LIKE
};

pub(crate) static SQL: Lexicon = Lexicon {
    facts: &[Fact::Clauses, Fact::DirectivesEnd],
    line_comments: &["--"],
    block_comments: &[],
    quotes: &[
        long("'", "'", Escape::Sql),
        long("\"", "\"", Escape::Sql),
        long("`", "`", Escape::Doubled),
    ],
    brackets: "()",
    word_bytes: "",
    extras: &[Extra::Sql],
    definitions: &["TABLE", "VIEW", "FUNCTION", "PROCEDURE", "TRIGGER", "INDEX", "TYPE"],
    ..C_LIKE
};

pub(crate) static DART: Lexicon = Lexicon {
    required: &[("try", &["on", "catch", "finally"])],
    has_nested_comments: true,
    quotes: &[
        long("r\"\"\"", "\"\"\"", Escape::None),
        long("r'''", "'''", Escape::None),
        with(DOLLAR_BRACE, long("\"\"\"", "\"\"\"", BACKSLASH)),
        with(DOLLAR_BRACE, long("'''", "'''", BACKSLASH)),
        quote("r\"", "\"", Escape::None),
        quote("r'", "'", Escape::None),
        with(DOLLAR_BRACE, DOUBLE),
        with(DOLLAR_BRACE, SINGLE),
    ],
    attributes: Attributes::At,
    definitions: &["class", "mixin", "enum", "extension", "typedef"],
    containers: &["class", "mixin", "enum", "extension"],
    ..C_LIKE
};

pub(crate) static SCALA: Lexicon = Lexicon {
    quotes: &[
        marked(Marks::Letters, with(DOLLAR_BRACE, LONG_TRIPLE)),
        marked(Marks::Letters, with(DOLLAR_BRACE, DOUBLE)),
        CHARACTER,
        QUOTED_NAME,
    ],
    openers: &[":", "=", "then", "else", "do", "match", "try", "catch", "finally", "with", "yield"],
    required: &[],
    definitions: &["class", "object", "trait", "def", "enum", "given"],
    ..KOTLIN
};

pub(crate) static ELIXIR: Lexicon = Lexicon {
    facts: &[Fact::MarksBeginValues],
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[
        with(HASH_BRACE, long("\"\"\"", "\"\"\"", BACKSLASH)),
        with(HASH_BRACE, long("'''", "'''", BACKSLASH)),
        with(HASH_BRACE, LONG_DOUBLE),
        with(HASH_BRACE, LONG_SINGLE),
    ],
    word_bytes: "@",
    extras: &[Extra::Sigils],
    words: &[pair("do", "end", When::Always), pair("fn", "end", When::Always)],
    ends: Ends::Lines,
    attributes: Attributes::Elixir,
    definitions: &[
        "defmodule",
        "def",
        "defp",
        "defmacro",
        "defmacrop",
        "defprotocol",
        "defimpl",
        "defguard",
        "defdelegate",
    ],
    parts: &["else", "catch", "rescue", "after", "do", "in"],
    ..C_LIKE
};

pub(crate) static GROOVY: Lexicon = Lexicon {
    required: TRY,
    quotes: &[
        with(DOLLAR_BRACE, long("\"\"\"", "\"\"\"", BACKSLASH)),
        long("'''", "'''", BACKSLASH),
        long("$/", "/$", Escape::After(b'$')),
        with(DOLLAR_BRACE, DOUBLE),
        SINGLE,
    ],
    extras: &[Extra::Slashes],
    ends: Ends::Lines,
    attributes: Attributes::At,
    definitions: &["class", "interface", "trait", "enum", "def", "task"],
    ..C_LIKE
};

/// Expressions of JavaScript, in templates.
pub(crate) static JAVASCRIPT: Lexicon = Lexicon {
    quotes: &[with(DOLLAR_BRACE, BACKTICK), DOUBLE, SINGLE],
    extras: &[Extra::RegexesInLines],
    ..C_LIKE
};

pub(crate) static ZIG: Lexicon = Lexicon {
    block_comments: &[],
    word_bytes: "@",
    extras: &[Extra::BackslashLines],
    definitions: &["fn", "test"],
    ..C_LIKE
};

pub(crate) static PROTOBUF: Lexicon =
    Lexicon { definitions: &["message", "enum", "service", "rpc", "oneof"], parts: &[], ..C_LIKE };

pub(crate) static GRAPHQL: Lexicon = Lexicon {
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[long("\"\"\"", "\"\"\"", BACKSLASH), DOUBLE],
    ends: Ends::Lines,
    attributes: Attributes::None,
    definitions: &[
        "type",
        "input",
        "interface",
        "enum",
        "union",
        "scalar",
        "query",
        "mutation",
        "subscription",
        "fragment",
    ],
    parts: &[],
    ..C_LIKE
};

pub(crate) static POWERSHELL: Lexicon = Lexicon {
    line_comments: &["#"],
    block_comments: &[("<#", "#>")],
    quotes: &[
        long("@\"", "\n\"@", Escape::None),
        long("@'", "\n'@", Escape::None),
        with(&[("$(", b')')], long("\"", "\"", Escape::After(b'`'))),
        long("'", "'", Escape::Doubled),
    ],
    word_bytes: "$-`",
    ends: Ends::Lines,
    definitions: &["function", "filter", "class", "enum"],
    ..C_LIKE
};

/// A row for a language of tags, whose scanner is its own.
const fn tags(tags: Tags) -> Lexicon {
    Lexicon { ends: Ends::Tags(tags), ..C_LIKE }
}

pub(crate) static XML: Lexicon = tags(Tags::Xml);
pub(crate) static HTML: Lexicon = tags(Tags::Html);
pub(crate) static VUE: Lexicon = tags(Tags::Vue);
pub(crate) static SVELTE: Lexicon = tags(Tags::Svelte);
