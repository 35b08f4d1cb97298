//! Tests that the work of judging a line grows linearly with its length.

use std::cell::Cell;

use super::bounds::StackSize;
use super::judge::judge;
use super::policy::Policy;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static SEARCHED: Cell<u64> = const { Cell::new(0) };
}

/// Counts characters that are read, by the scanner, the parser crate and in words.
pub fn count(steps: usize) {
    STEPS.set(STEPS.get() + steps as u64);
}

/// Counts the characters that the parser crate gets, and the bytes that it scans for closing braces
/// if the text is malformed.
pub fn count_parsed(text: &str, searched_bytes: u64) {
    count(text.chars().count());
    SEARCHED.set(SEARCHED.get() + searched_bytes);
}

/// The number of steps that judging a line takes.
fn steps(command: &str) -> u64 {
    STEPS.set(0);
    judge(command, &Policy::default(), &|_| true, StackSize::Large);
    STEPS.get()
}

/// The limit on bytes that are scanned for the closing braces of a line.
fn searched(command: &str) -> u64 {
    SEARCHED.set(0);
    judge(command, &Policy::default(), &|_| true, StackSize::Large);
    SEARCHED.get()
}

/// Opening constructs of the language, each with its end.
const OPENINGS: [[&str; 2]; 36] = [
    ["$(", ")"],
    ["$(a ", ")"],
    ["`", "`"],
    ["`a[", "`"],
    ["`\\`", "\\``"],
    ["${a ", "}"],
    ["${x:-", "}"],
    ["\"", "\""],
    ["'", "'"],
    ["$'", "'"],
    ["$((", "))"],
    ["$[", "]"],
    ["((", "))"],
    ["<(", ")"],
    ["(", ")"],
    ["( ", " )"],
    ["{ ", "; }"],
    ["{", "}"],
    ["{a,", "}"],
    ["{\\done ", "}"],
    ["[[ ", " ]]"],
    ["a[", "]"],
    ["a=(", ")"],
    ["@(", ")"],
    ["case a in {", ";; esac"],
    ["case a in a) ", ";; esac"],
    ["if a; then ", "; fi"],
    ["while a; do ", "; done"],
    ["for a in b; do ", "; done"],
    ["f() ", ""],
    ["cat <<E\n", "\nE\n"],
    ["cat <<'", "'\n"],
    ["\\", ""],
    ["#", "\n"],
    ["\n", ""],
    ["eval ", ""],
];

/// Repeats a construct up to a length. The number is even, so that both lengths that are compared
/// leave the same constructs open.
fn repeated(unit: &str, closing: &str, length_bytes: usize) -> String {
    let count = length_bytes / (unit.len() + closing.len()) / 2 * 2;
    format!("{}a{}", unit.repeat(count), closing.repeat(count))
}

fn grows_with_its_length(before: &str, unit: &str, closing: &str, length_bytes: usize) {
    let of = |bytes: usize| steps(&format!("{before}{}", repeated(unit, closing, bytes)));
    let (short, long) = (of(length_bytes), of(4 * length_bytes));
    let shape = format!("{before:?} {unit:?} {closing:?}");
    assert!(long <= 5 * short.max(length_bytes as u64), "{shape}: {short} steps, then {long}");
}

/// Runs on a stack that suffices for everything that is judged.
fn with_stack(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let stack = std::thread::Builder::new().stack_size(super::bounds::STACK_BYTES);
        stack.spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

#[test]
fn work_grows_with_the_length_of_openings() {
    with_stack(|| {
        for [opening, closing] in OPENINGS {
            for before in ["", "echo ", "cat <<E\n", "${a "] {
                grows_with_its_length(before, opening, closing, 4096);
                grows_with_its_length(before, opening, "", 4096);
            }
        }
    });
}

#[test]
fn work_grows_with_the_length_of_pairs_of_openings() {
    with_stack(|| {
        let openings = || OPENINGS.iter().enumerate();
        for ((at, [one, close_one]), (other_at, [other, close_other])) in
            openings().flat_map(|one| openings().map(move |other| (one, other)))
        {
            let unit = format!("{one}{other}");
            if (at + other_at) % 2 == 0 {
                grows_with_its_length("", &unit, &format!("{close_other}{close_one}"), 1024);
            } else {
                grows_with_its_length("echo ", &unit, "", 1024);
            }
        }
    });
}

/// Programs in arguments, commands with many words, and texts that are not measured: their
/// surroundings, and the pieces that are repeated in them, in pairs.
const PROGRAMS: [(&[[&str; 2]], &[&str]); 10] = [
    (
        &[["sed -n '", "' f"], ["sed -n '/", "' f"], ["sed 's/", "' f"], ["sed 'a ", "' f"]],
        &[
            "[", "[^", "[a-", "]", "/", ",", "\\", ";", "\n", "s/", "s,", "y", "{", "}", "a",
            "w f\n", "/[a/",
        ],
    ),
    (
        &[["awk '", "' f"], ["awk 'BEGIN{", "}' f"]],
        &[
            "{", "}", "print ", ">", "<", "\"", "getline ", "(", ")", ";", "\n", "NR>1", "&&",
            "\\", "#",
        ],
    ),
    (
        &[["python3 -c \"", "\""], ["python3 <<'E'\nopen('/tmp/a')\n", "\nE\n"]],
        &[
            "open(",
            "p",
            ",",
            "'w'",
            ")",
            "open( Path('/tmp/a').write_text( ",
            "os.open(",
            "\n",
            ";",
            "print(",
            "=",
            "mode=",
            "for ",
            " in ",
            "é",
        ],
    ),
    (
        &[["node -e \"", "\""]],
        &["readFile(", "writeFile(", "'/tmp/a'", ",", ")", ";", "console.log("],
    ),
    (
        &[["perl -e \"open(F, '<', 'a');", "\""]],
        &["open(F,", "'>'", "'<'", ",", "'/tmp/a'", ")", "xxxxx;", "path(", ")->slurp", "->spew"],
    ),
    (&[["ruby -e \"", "\""]], &["File.open(", "File.read(", "'/tmp/a'", ",", "'w'", ")", "puts "]),
    (&[["php -r \"", "\""]], &["fopen(", "file(", "'/tmp/a'", ",", "'w'", ")", ";", "echo "]),
    (
        &[["find . ", ""], ["xargs -I{} ", ""]],
        &[
            "-exec a {} + ",
            "-exec a \\; ",
            "-exec ",
            "a ",
            "\\; ",
            "{} ",
            "+ ",
            "-x ",
            "a=b ",
            "-e ",
            "sudo ",
            "xargs -I{} ",
            "$x ",
            "''",
        ],
    ),
    (&[["find a/long/name/of/a/directory/ -exec ", " \\;"]], &["a", "{}", " "]),
    (
        &[["cat <<E\n", "\nE\n"], ["echo \"", "\""]],
        &["$((", "#", "(", "\n", ")", "$(", "`", "${", "}", "$((#(\na) )", "[", "\\\\"],
    ),
];

#[test]
fn work_grows_with_the_length_of_programs() {
    const SHORT_BYTES: usize = 2048;
    with_stack(|| {
        for (around, pieces) in PROGRAMS {
            for (at, one) in pieces.iter().enumerate() {
                for (other_at, other) in pieces.iter().enumerate() {
                    let [before, after] = around[(at + other_at) % around.len()];
                    let unit = [*one, *other].concat();
                    let of = |count: usize| steps(&[before, &unit.repeat(count), after].concat());
                    let count = SHORT_BYTES / unit.len();
                    let (short, long) = (of(count), of(4 * count));
                    let shape = format!("{before:?} {unit:?}: {short} steps, then {long}");
                    assert!(long <= 5 * short.max(SHORT_BYTES as u64), "{shape}");
                }
            }
        }
    });
}

/// Each was searched to its end from many offsets. 63 KB took 1.6 s in sed with unclosed brackets,
/// 0.2 to 0.7 s in code and in many commands of `find`; inserting a long name many times took 600
/// MB.
#[test]
fn regression_programs_and_words_are_searched_once() {
    let shapes = [
        ["sed -n '", "[a-", "' f"],
        ["sed -n '/", "[", "' f"],
        ["sed -n 's/", "[", "' f"],
        ["sed -n '", "/[a/;", "' f"],
        ["sed -n '", "s,[,", "' f"],
        ["python3 -c \"", "open( Path('/tmp/a').write_text( ", "\""],
        ["perl -e \"open(F, '<', 'a');", "xxxxxxx;", "\""],
        ["find . ", "-exec a \\; ", ""],
        ["find . ", "-exec a {} + ", ""],
    ];
    with_stack(|| {
        for [before, unit, after] in shapes {
            let of =
                |bytes: usize| steps(&[before, &unit.repeat(bytes / unit.len()), after].concat());
            let (short, long) = (of(4000), of(60_000));
            assert!(long <= 16 * short, "{before:.20} {unit}: {short} steps, then {long}");
        }
        let names = format!("find {} -exec echo {}\\;", "d".repeat(14_000), "{} ".repeat(15_000));
        let steps = steps(&names);
        assert!(steps <= 1_000_000, "{steps} steps");
    });
}

/// 64 KB took two seconds: the crate does not end `a[` at a backquote, so it read on to the end of
/// the text, and started again after the next backquote.
#[test]
fn regression_backquotes_are_read_once() {
    let shape = |count: usize| format!("${{a {}{}", "`a[".repeat(count), " ".repeat(3 * count));
    with_stack(|| {
        let (short, long) = (steps(&shape(680)), steps(&shape(4 * 680)));
        assert!(long <= 5 * short, "{short} steps, then {long}");
    });
}

/// To detect an unclosed `$(`, the rest of the text is scanned, and scanned again for each `((` in
/// it: 32 KB took 128 ms.
#[test]
fn regression_unclosed_expansions_are_bounded_by_the_bytes_scanned() {
    let openings = ["$(".repeat(40), "(".repeat(158)].concat();
    let line = format!("<<\nf ((\n{{ ; }}{openings}{}{}", "a".repeat(5000), "a) ".repeat(1700));
    with_stack(|| {
        let steps = steps(&line);
        assert!(steps <= 3_000_000, "{steps} steps");
    });
}

/// Each script had its own limit on braces: 64 KB took twice the time.
#[test]
fn regression_braces_of_a_line_and_its_scripts_are_bounded_together() {
    let braces = |count: usize, rest: usize| {
        format!("catcat[[ }}; }}\0 (; }}{}{}", "{ ".repeat(count), "cat".repeat(rest))
    };
    let inner = braces(900, 11_000);
    with_stack(|| {
        for line in [
            format!("eval '{inner}'; {}", braces(600, 8500)),
            format!("bash <<'E'\n{inner}\nE\n{}", braces(600, 8500)),
            format!("{}{}", "eval ".repeat(10), braces(2400, 1600)),
            format!("{inner}\nbash -c 'bash -c \"{}\"'", braces(2400, 1600)),
        ] {
            let bytes = searched(&line);
            assert!((1..=40_000_000).contains(&bytes), "{bytes}: {}", &line[..40]);
        }
    });
}
