//! Detects the language of a file by a mode line, its name, or its `#!` line. Never guesses. Only
//! whether a header is in C or C++ depends on its content.

use crate::language::{LANGUAGES, Language};
use crate::lexical;

/// The number of bytes that are searched for a `#!` line or a mode line.
const HEAD_BYTES: usize = 1024;

/// Programs and modes of languages that are not known, although their files can have the name of
/// another one: scripts of zsh are often named `.sh`.
const UNKNOWN: &[&str] = &["zsh"];

/// The language of a file with this name or path and text; `None` if it is unknown.
pub fn language_of(name: &str, text: &[u8]) -> Option<&'static Language> {
    let head = String::from_utf8_lossy(&text[..text.len().min(HEAD_BYTES)]);
    let head = head.trim_start_matches('\u{feff}');
    if head.starts_with("<?xml") {
        // Qt translations have the extension `.ts`, too.
        return named("XML");
    }
    if program(head).is_some_and(|one| UNKNOWN.contains(&one))
        || modes(head).any(|one| UNKNOWN.contains(&&*one))
    {
        return None;
    }
    let by_name = || {
        let is_header = name.ends_with(".h") && lexical::is_cpp(text);
        if is_header { named("C++") } else { by_name(name) }
    };
    by_mode(head).or_else(by_name).or_else(|| by_interpreter(head))
}

fn named(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

fn by_name(name: &str) -> Option<&'static Language> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let named = LANGUAGES.iter().find(|language| language.files.contains(&file));
    named.or_else(|| {
        let (stem, extension) = file.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let has = |language: &&Language| language.extensions.contains(&extension.as_str());
        LANGUAGES.iter().find(has).filter(|_| !stem.is_empty())
    })
}

fn by_interpreter(head: &str) -> Option<&'static Language> {
    let program = program(head)?;
    LANGUAGES.iter().find(|language| language.interpreters.contains(&program))
}

/// The program that `#!/usr/bin/env -S python3.12 -u` names: `python`.
fn program(head: &str) -> Option<&str> {
    let line = head.strip_prefix("#!")?.lines().next()?;
    let mut words =
        line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = words.next()?;
    let is_setting = |word: &&str| word.starts_with('-') || word.contains('=');
    let program = if first == "env" { words.find(|word| !is_setting(word))? } else { first };
    Some(program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.'))
}

fn by_mode(head: &str) -> Option<&'static Language> {
    modes(head)
        .find_map(|mode| LANGUAGES.iter().find(|language| language.modes.contains(&mode.as_str())))
}

/// The modes in the first lines: `-*- mode: python; … -*-`, `-*- python -*-` or
/// `vim: set ft=python :`.
fn modes(head: &str) -> impl Iterator<Item = String> {
    let lines = head.lines().take(5);
    lines.filter_map(|line| Some(emacs_mode(line).or_else(|| vim_mode(line))?.to_ascii_lowercase()))
}

fn emacs_mode(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("-*-")?;
    let (inside, _) = rest.split_once("-*-")?;
    let named = inside.split(';').find_map(|part| {
        let (key, value) = part.split_once(':')?;
        key.trim().eq_ignore_ascii_case("mode").then(|| value.trim())
    });
    named.or_else(|| (!inside.contains(':')).then(|| inside.trim()))
}

fn vim_mode(line: &str) -> Option<&str> {
    let (_, rest) = ["vim:", "vi:", "ex:"].iter().find_map(|mark| line.split_once(mark))?;
    let options = rest.split([' ', ':', '\t']);
    options
        .filter_map(|option| option.split_once('='))
        .find_map(|(key, value)| matches!(key, "ft" | "filetype" | "syntax").then_some(value))
}
