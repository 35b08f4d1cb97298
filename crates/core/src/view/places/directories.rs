//! In which directory the programs of an output run: what `make`, `ninja`, `npm` and `pnpm` say of it.

use std::ops::ControlFlow;

/// Where the relative paths of a line start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directory {
    /// Where the command started.
    Start,
    /// In a directory that the output names; a relative path is one from where the command started.
    Named(String),
    /// In one of several directories.
    Unknown,
}

/// What a line says.
#[derive(Debug)]
enum Notice<'t> {
    /// `make[1]: Entering directory '/home/dev/app'`.
    Enters(Level, &'t str),
    /// `make[1]: Leaving directory '/home/dev/app'`.
    Leaves(Level, &'t str),
    /// An error of a `make` that another one started.
    Inner(Level),
    /// `> ui@1.0.0 build`, and of pnpm `> ui@1.0.0 build /home/dev/app/ui`.
    Script { package: &'t str, path: Option<&'t str> },
    /// `npm error path /home/dev/app/ui`: where the script above ran.
    Failed(&'t str),
}

/// How many programs of its kind started one another above a `make`.
type Level = u32;

/// The directories of an output, each from the line with this number.
pub fn directories<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<(usize, Directory)> {
    let notices = lines.enumerate().filter_map(|(at, line)| Some((at, notice(line)?)));
    let notices: Vec<_> = notices.collect();
    let mut open = OpenDirectories::at_start(&notices);
    let mut script = Directory::Start;
    let mut changes = vec![(0, open.last().unwrap_or(Directory::Start))];
    let first_package = notices.iter().find_map(|(_, notice)| match notice {
        Notice::Script { package, .. } => Some(*package),
        _ => None,
    });
    for (number, (at, notice)) in notices.iter().enumerate() {
        match *notice {
            Notice::Enters(level, path) => open.enter(level, path),
            Notice::Leaves(_, path) => open.leave(path),
            Notice::Inner(level) if !open.has(level) => return vec![(0, Directory::Unknown)],
            Notice::Inner(_) => {}
            Notice::Script { package, path } => {
                script = match path.or_else(|| failed_path(&notices[number + 1..])) {
                    Some(path) => Directory::Named(path.to_owned()),
                    None if Some(package) == first_package => Directory::Start,
                    None => Directory::Unknown,
                };
            }
            Notice::Failed(_) => script = Directory::Start,
        }
        changes.push((*at, open.last().unwrap_or_else(|| script.clone())));
    }
    changes
}

/// Where a script failed, if it did before the next one started.
fn failed_path<'t>(below: &[(usize, Notice<'t>)]) -> Option<&'t str> {
    let path = below.iter().try_for_each(|(_, notice)| match notice {
        Notice::Failed(path) => ControlFlow::Break(Some(*path)),
        Notice::Script { .. } => ControlFlow::Break(None),
        _ => ControlFlow::Continue(()),
    });
    path.break_value().flatten()
}

/// The directories that were entered and not left.
struct OpenDirectories {
    open: Vec<(Level, String)>,
    /// Whether several were entered at the same time, by `make -j`, until all are left.
    is_mixed: bool,
}

impl OpenDirectories {
    /// Those that are left later, but entered before the output starts.
    fn at_start(notices: &[(usize, Notice<'_>)]) -> OpenDirectories {
        let mut entered: Vec<&str> = Vec::new();
        let mut outer = OpenDirectories { open: Vec::new(), is_mixed: false };
        for (_, notice) in notices {
            match *notice {
                Notice::Enters(_, path) => entered.push(path),
                Notice::Leaves(level, path) => match entered.iter().rposition(|one| *one == path) {
                    Some(at) => drop(entered.remove(at)),
                    None => outer.open.push((level, path.to_owned())),
                },
                _ => {}
            }
        }
        outer.open.reverse();
        outer.is_mixed = !outer.open.is_sorted_by(|one, inner| one.0 < inner.0);
        outer
    }

    fn last(&self) -> Option<Directory> {
        let (_, path) = self.open.last()?;
        Some(if self.is_mixed { Directory::Unknown } else { Directory::Named(path.clone()) })
    }

    fn has(&self, level: Level) -> bool {
        self.open.iter().any(|(open, _)| *open == level)
    }

    fn enter(&mut self, level: Level, path: &str) {
        self.is_mixed |= self.open.iter().any(|(open, _)| *open >= level);
        let path = match self.open.last() {
            Some((_, outer)) if !is_absolute(path) => format!("{outer}/{path}"),
            _ => path.to_owned(),
        };
        self.open.push((level, path));
    }

    fn leave(&mut self, path: &str) {
        let Some(at) = self.open.iter().rposition(|(_, open)| open.ends_with(path)) else { return };
        if self.is_mixed {
            self.open.remove(at);
        } else {
            // `ninja` does not say that it leaves.
            self.open.truncate(at);
        }
        self.is_mixed &= !self.open.is_empty();
    }
}

fn notice(line: &str) -> Option<Notice<'_>> {
    let line = line.trim_end();
    if let Some(script) = line.strip_prefix("> ") {
        return script_notice(script);
    }
    let failed = ["npm error path ", "npm ERR! path "].iter().find_map(|s| line.strip_prefix(s));
    if let Some(path) = failed {
        return is_absolute(path).then_some(Notice::Failed(path));
    }
    let (program, message) = line.split_once(": ")?;
    let level = level(program)?;
    let quotes = ['\'', '`', '"', '‘', '’'];
    let path = |prefix: &str| Some(message.strip_prefix(prefix)?.trim().trim_matches(quotes));
    if let Some(path) = path("Entering directory ") {
        return Some(Notice::Enters(level, path));
    }
    if let Some(path) = path("Leaving directory ") {
        return Some(Notice::Leaves(level, path));
    }
    // Warnings precede the name of the directory.
    (level > 0 && message.starts_with("***")).then_some(Notice::Inner(level))
}

/// The level of `make`, `gmake[1]`, `mingw32-make[2]`, `ninja`.
fn level(program: &str) -> Option<Level> {
    let (name, level) = match program.strip_suffix(']') {
        Some(rest) => {
            let (name, digits) = rest.split_once('[')?;
            (name, digits.parse().ok()?)
        }
        None => (program, 0),
    };
    let name = name.rsplit(['/', '\\']).next()?;
    (name.ends_with("make") || name == "make.exe" || name == "ninja").then_some(level)
}

fn script_notice(text: &str) -> Option<Notice<'_>> {
    let mut words = text.splitn(3, ' ');
    let package = words.next()?;
    let version = package.rsplit_once('@').filter(|(name, _)| !name.is_empty())?.1;
    words.next()?;
    let path = words.next().filter(|path| is_absolute(path));
    version
        .starts_with(|next: char| next.is_ascii_digit())
        .then_some(Notice::Script { package, path })
}

/// Whether a path is absolute, on this system or on Windows.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory of each line that starts with `x`: `.` for the start, `?` if it is unknown.
    fn of(output: &str) -> String {
        let changes = directories(output.lines());
        let directory = |at: usize| {
            let next = changes.partition_point(|(from, _)| *from <= at);
            match &changes[next - 1].1 {
                Directory::Start => ".".to_owned(),
                Directory::Named(path) => path.clone(),
                Directory::Unknown => "?".to_owned(),
            }
        };
        let lines = output.lines().enumerate().filter(|(_, line)| line.starts_with('x'));
        lines.map(|(at, _)| directory(at)).collect::<Vec<_>>().join(" ")
    }

    /// An output of `make`: `+1/p` enters a directory at a level, `-1/p` leaves it, `!1` is an error.
    fn made(events: &str) -> String {
        let line = |event: &str| {
            let Some((sign, rest)) = event.split_at_checked(1) else { return String::new() };
            let (level, path) = rest.split_at(rest.len().min(1));
            match sign {
                "+" => format!("make[{level}]: Entering directory '{path}'"),
                "-" => format!("make[{level}]: Leaving directory '{path}'"),
                "!" => format!("make[{level}]: *** [Makefile:2: all] Error 1"),
                _ => event.to_owned(),
            }
        };
        events.split(' ').map(|event| line(event) + "\n").collect()
    }

    #[test]
    fn regression_a_directory_ends_where_make_leaves_it() {
        for (events, expected) in [
            ("x +1/a x !1 -1/a x", ". /a ."),
            ("x +1/a x +2/b x -2/b x -1/a x", ". /a /b /a ."),
            ("+0/p x +1/p/a x -1/p/a x -0/p x", "/p /p/a /p ."),
            ("+1/a x -1/a x +1/b x -1/b x", "/a . /b ."),
            // The start of the output is missing, or its end.
            ("x -2/b x -1/a x", "/b /a ."),
            ("x +2/c x -2/c x -1/a x", "/a /c /a ."),
            ("+1/a x", "/a"),
            // `make -j`.
            ("+1/a x +1/b x -1/a x -1/b x", "/a ? ? ."),
            // `make -s` does not say what it enters.
            ("x !1 x", "? ?"),
            ("+1/a x !2 -1/a x", "? ?"),
        ] {
            assert_eq!(of(&made(events)), expected, "{events}");
        }
        let ninja = "ninja: Entering directory `out'\nx\nninja: build stopped\nx\n";
        assert_eq!(of(ninja), "out out");
        assert_eq!(of("make[1]: Entering directory ‘/é’\r\nx\r\n"), "/é");
    }

    #[test]
    fn regression_a_script_of_another_package_runs_elsewhere() {
        let ui = "> ui@1.0.0 build\n> tsc -p .\n\nx\nnpm error code 2\nnpm error path /p/ui\nx\n";
        assert_eq!(of(ui), "/p/ui .");
        assert_eq!(of("> ui@1.0.0 build /p/ui\n> tsc\nx\n"), "/p/ui");
        assert_eq!(of("> @s/ui@1.0.0 build C:\\p\\ui\nx\n"), "C:\\p\\ui");
        assert_eq!(of("> a@1.0.0 build\nx\n> b@1.0.0 build\nx\n> a@1.0.0 test\nx\n"), ". ? .");
        assert_eq!(of("> a@1.0.0 test\n> b@1.0.0 test\nx\nnpm ERR! path /p/b\nx\n"), "/p/b .");
        assert_eq!(of("> tsc --noEmit /p\nx\n> me@example.com said /p\nx\n"), ". .");
    }
}
