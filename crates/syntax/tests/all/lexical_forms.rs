//! Languages without a grammar: valid forms of texts, words and brackets that a simple scanner would
//! report, and the blocks and faults around them.

use hashline_syntax::{Fault, NoBlockReason};

use crate::{budget, parse};

fn fault(name: &str, text: &str) -> Option<Fault> {
    parse(name, text).fault(&budget())
}

/// Fails if one of the texts has a fault, with `\n` or with `\r\n`.
fn assert_valid(name: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(fault(name, text), None, "{name}: {text}");
        assert_eq!(fault(name, &text.replace('\n', "\r\n")), None, "{name} with CRLF: {text}");
        // What follows is still judged.
        let close = if name == "a.ex" { "end" } else { ")" };
        let surplus = format!("{text}\n{close}\n");
        let found = fault(name, &surplus).map(|fault| fault.line as usize);
        assert_eq!(found, Some(text.matches('\n').count() + 2), "{name}: {surplus}");
    }
}

#[test]
fn regression_valid_ruby() {
    assert_valid(
        "a.rb",
        &[
            // A regular expression of several lines.
            "x = /a\n b'c\n/x",
            "x = (/a\n b[']\n/x)",
            "x.gsub(/a\n (?<b>[\"']) #{c} [^#{d['e']}]\n/x) do\n  f\nend",
            "a(%r%\n [^\"]+', \\s*(\n %xm) do |b|\nend",
            "/[#{[\n  [1, '\"'],\n].join }]/",
            "def f(s) /[^#{s}]'/n end",
            "x = a / b; y = (c) / d; z = yield / 2",
            "x = yield /a'/\nputs /b\"/",
            // Code in a text has texts again.
            "x = \"#{$'}\"",
            "x = \"#{$`}::#{a ?'\"' : \"}\"}\"",
            "x = \"#{a.b(/[\"}]/)} #{c %w[}]}\" # '",
            "x = \"#{a # '}\n}\"",
            "x = %{#{\"}\"}} + %w[a #{ b]",
            "x = \"#{<<-\"a;\"}\\n#{<<-\"b;\".c}\"\n  it's #{\n a;\n  (\n  b;\ny",
            // Names.
            "remove_method :a= if b\nremove_method(:a=)",
            "alias_method :c, :[]= unless d\nreturn 1 if e == :/\nx = y ? :a : :/",
            "def online? =!!@online\ndef a() =-1",
            "alias_method :regular_writer, :[]=unless defined?(a)",
            "class A; alias end if; undef do; end",
            "yield range.begin if range.begin\nnode.do if a.then unless b.else",
            "if a\n  0...b\nelse\n  0..\nend",
            "{ :a=>1, :b==c => :d=~e }",
            // The head of a loop has several lines.
            "for i in [1,\n          2] do\n  a\nend",
            "while a &&\n    b do\n  c\nend",
            "until a.b\n    .c do\n  d\nend",
            "while a\n  b do\n    c\n  end\nend",
            "while a { b do c end } do\n  d\nend",
            "until a; b do c end; end",
        ],
    );
}

/// Commands of Windows were read as those of a POSIX shell, so that `fi` was missing.
#[test]
fn regression_valid_dockerfile_of_windows() {
    assert_valid(
        "Dockerfile",
        &[
            "FROM a\nSHELL [\"powershell\", \"-Command\", \"$b = 'c';\"]\n\
             RUN if ((d).e -ne $f) { \\\n    g 'it''s'; \\\n# don't\n\n  }; \\\n  h \"i`\"(\"\nCMD [\"j\"]",
            "FROM a\nSHELL [ \"C:\\\\b\\\\pwsh.exe\", \"-Command\" ]\nrun if (c) { d 'e\\' }",
            "FROM a\nRUN powershell.exe -Command if (b) { 'c`'' }\nRUN if d; then e; fi",
            "FROM a\nRUN cmd /S /C if exist b\\ ( del \"b\\\" )",
            "FROM a\nRUN --mount=type=cache,target=/b @powershell if (c) { d }",
            "FROM a\nHEALTHCHECK --timeout=5s CMD powershell -command if (b) { exit 0 }",
            "FROM --platform=b mcr.microsoft.com/windows/servercore:c AS d\nRUN if exist e\\ del \"e\\\"",
            "# syntax=a/b\n# Escape = `\nFROM c AS d\nCOPY e.exe C:\\\nENV f='g\\' `\n  h=\"C:\\\"\n\
             RUN if exist C:\\e ( `\n  # don't\n  del C:\\e )",
            "FROM a\nSHELL [\"pwsh\", \"-Command\"]\nRUN <<-EOF\n  if (b) { 'c`'' }\n  EOF\nRUN d",
        ],
    );
    // Other shells are still judged.
    let text =
        "FROM a\nSHELL [\"cmd\"]\nRUN if (b\nSHELL [\"/bin/bash\", \"-c\"]\nRUN if c; then d\n";
    assert_eq!(fault("Dockerfile", text).map(|fault| fault.opened), Some(Some(5)));
    // A backtick continues a line only if a directive at the start says so.
    let text = "FROM a\n# escape=`\nRUN echo `b`\nRUN if c; then d\n";
    assert_eq!(fault("Dockerfile", text).map(|fault| fault.opened), Some(Some(4)));
}

#[test]
fn regression_valid_shell() {
    assert_valid(
        "a.sh",
        &[
            // Code in a text.
            "x=\"$(cat <<'EOF'\nit's ) \"\nEOF\n)\"",
            "x=\"$(case a in b) echo ')';; c|d) ;; esac)\"",
            "x=\"$(a # it's )\n)\"",
            "x=\"$(( (1 + 2) * 3 ))\" y=\"$((1 << b))\"",
            "x=\"${y:-{\\}}\" z=\"${a:-it's}\" b=\"${c%'}'}\" d=\"${e:-\"}\"}\" f=${g#*{\\\"a\\\"}",
            "x=\"${a:-$(b \"}\")}\" # \"",
            // Groups and loops.
            "for ((i=0; i<3; i++)) { a; }",
            "for ((i=0; i<3; i++)) do a; done",
            "coproc { a; }\ncoproc b { c; }\ntime { d; }",
            "while [[ a ]] do b; done; if [[ $a =~ ^(if|{)$ ]] then c; fi",
            "if [[ \"$a\" =~ '-F'[[:space:]]([[:alnum:]_]+)[[:space:]] ]]; then b; fi",
            "if [[ $a =~ ^([[:b:]]*)([[:c:]]*)? ]]; then\n  d\nfi\ncat << End-Of.it!\nit's (\nEnd-Of.it!",
            "if [[ a &&\n  $(if b; then c; fi) ]]; then d; fi",
            // Patterns.
            "case $x in\n  in) a ;;\n  do|done) b ;;\n  (esac) c ;;\n  x|esac) d ;;\n  if) ;;\nesac",
            "case if in\nfi) a=(1) ;;&\n+([0-9])) b ;&\nfi|{) c\nesac",
            "case `(a) 2>b` in #(\n  *c*) :\n    d ;; #(\n  *) :\n    ;;\nesac",
            // Words that are not in the place of a command.
            "echo do done if fi case esac then",
            "a=1 b=2 c; case=1; if=2; done='NO'; fi=\"$2\"; echo $case $done",
        ],
    );
}

#[test]
fn regression_valid_sql() {
    assert_valid(
        "a.sql",
        &[
            "SELECT $$ it's ( $$, $tag$ $$ ( $tag$, $1$2, a$b$c;",
            "COMMENT ON a IS $$ don't ( $$;\nDO $$ BEGIN a('it''s'); END$$;",
            "CREATE FUNCTION a() RETURNS b LANGUAGE python AS $$\n# it's (\n$$;",
            "SELECT [a(b], [dbo].[c'd] FROM e; SELECT a[1], ARRAY[f(a[1]), (2)], ARRAY [f(a[1])];",
            "SELECT q'[it's (]', Q'!it's (!', nq'{'}' FROM dual;",
            "/* /* nested */ ( */ SELECT 1;\n/* it's */",
            "/* /* not nested ( */ SELECT 1; -- '\n/* a */",
            "# it's a comment (\nSELECT 1; # it's (\nSELECT a #> b, c # 5;",
            "DELIMITER $$\nCREATE FUNCTION a() COMMENT 'b(\\'c\\');'\nBEGIN\nEND$$\n",
            "SELECT \"a\\\"b\", \"[^ \\\"]|\\\"c)\" LIKE 'd\\'e'; SELECT \"a\"\"b(\";\n\\copy (\n  SELECT a)",
            "DECLARE @a int = 1;\nSET @b = N'\\'+N'(';\n",
            "\\set a 'it''s ('\nSELECT 1 \\gset don't\nSELECT 2;",
            "COPY a (b, c) FROM stdin;\nit's\t(\n\\N\t$$\n\\.\n\nCOPY a FROM STDIN;\n\\.\nSELECT 1;",
        ],
    );
    let text = "CREATE FUNCTION a() RETURNS b AS $$\nBEGIN\n  c(1;\nEND$$ LANGUAGE plpgsql;\n";
    assert_eq!(fault("a.sql", text).and_then(|fault| fault.opened), Some(3));
}

#[test]
fn regression_valid_lua_php_elixir() {
    assert_valid(
        "a.lua",
        &["x = \"a\\\nb\\z\n   c(\" y = 'd\\z  '", "function a(...)\n  return ...\nend"],
    );
    assert_valid(
        "a.ex",
        &[
            "x = ~s{a #{\"}\"} b} <> ~S{a #{ b} <> ~s[a [b] <> ~S(a\\)b)",
            "x = ~r/[\\/\"']{/; y = ~r|\"|; w = ~r<a>; v = ~w'd \"' ++ ~w\"' do\"",
            "x = ~S\"\"\"\n  a \\\"\"\" fn\n  \"\"\"\ny = 1",
            "x = \"#{~s(\")} #{?\"} #{if a do \"}\" end}\" # do",
            "x = ~s/~r{\\n123}/ <> ~s\"~r|12\\|3|\"",
        ],
    );
    for text in ["<?php\na();\n__halt_compiler();\nit's { (", "<?php __HALT_COMPILER() ?>\n it's {"]
    {
        assert_eq!(fault("a.php", text), None, "{text}");
    }
}

#[test]
fn regression_valid_less_and_templates() {
    let text = ".a {\n  b: url(http://c?d=\\\"e\\\":\\(400\\),700);\n}\n";
    for name in ["a.less", "a.scss"] {
        assert_eq!(fault(name, text), None);
        let torn = text.replace(",700)", ",700))");
        assert_eq!(fault(name, &torn).map(|fault| fault.line), Some(2));
    }
    for text in [
        "<p>\n<a b=c /></a>\n<td/>\n<a/>\n</p>",
        "<p>\n{% highlight html %}<nav>{% endhighlight %}\n{%- raw -%}</b>{{{%- endraw -%}\n</p>",
        "<p>\n{% raw %}\n</p>",
        "<ul a=\"{% if b == \"c\" %}d{% elsif e == \"f\" %}{{ g | h: \"i\" }}{% endif %}\" j='k'>\n</ul>",
        "<a b=\"{{\" c=\"}}\">\n</a>",
    ] {
        assert_eq!(fault("a.html", text), None, "{text}");
        let surplus = format!("{text}\n</div>");
        assert!(fault("a.html", &surplus).is_some(), "{surplus}");
    }
    assert!(fault("a.html", "<p>\n<a/></ab>\n</p>").is_some());
}

/// The rest of the text was searched at each of these.
#[test]
fn templates_without_an_end() {
    for part in ["{% raw %}", "{% raw %}endraw ", "<a b=\"{%\" ", "<a b=\"{% \"{{", "<a/></a"] {
        parse("a.html", &part.repeat(200_000 / part.len()));
    }
}

/// Text in text in text, so deep that it is not read.
#[test]
fn a_text_with_too_much_code_in_it_is_not_judged() {
    for (name, open, close) in
        [("a.rb", "\"#{", "}\""), ("a.sh", "\"$(a ", ")\""), ("a.sh", "${a:-", "}")]
    {
        let nested =
            |depth: usize| format!("a (\n{}1{}\n)\n", open.repeat(depth), close.repeat(depth));
        assert_eq!(fault(name, &nested(20)), None, "{name}");
        assert_eq!(fault(name, &nested(400)), None, "{name}");
        assert!(fault(name, &nested(20).replace(")\n", "")).is_some(), "{name}");
        let torn = format!("a {{\n  {}", open.repeat(10_000));
        assert_eq!(fault(name, &torn), None, "{name}");
        let block = parse(name, &torn).block(1, &budget()).map_err(|none| none.reason);
        assert!(block.is_err(), "{name} {block:?}");
    }
}

#[test]
fn a_missing_then_is_reported() {
    for (name, text, opened, line) in [
        ("a.sh", "a() {\n  if b\n    c\n  fi\n}\n", 2, 4),
        ("a.sh", "if a; then\n  b\nelif c\n  d\nelse\n  e\nfi\n", 1, 5),
        ("a.sh", "if a\n  b\nelif c; then\n  d\nfi\n", 1, 3),
        ("a.lua", "if a\n  b()\nend\n", 1, 3),
        ("a.lua", "if a then\n  b()\nelseif c\n  d()\nend\n", 1, 5),
    ] {
        let found = fault(name, text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((found.opened, found.line), (Some(opened), line), "{text}: {}", found.what);
        assert!(found.what.starts_with("`then` is missing"), "{}", found.what);
        assert_eq!(
            parse(name, text).block(1, &budget()).map_err(|none| none.reason),
            Err(NoBlockReason::Error)
        );
    }
}

#[test]
fn a_missing_end_of_a_pattern_is_reported() {
    for (text, line) in [
        ("case a in\n  b\n    c\n    ;;\nesac\n", 2),
        ("case a in\n  b) c ;;\n  *\nesac\n", 3),
        ("case a in b) c ;; d|e f ;; esac\n", 1),
        ("case a in\n  \"b\"*\n    c $(d)\n    ;;\n  e) ;;\nesac\n", 2),
    ] {
        let found = fault("a.sh", text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (found.line, &*found.what),
            (line, "`)` is missing after the pattern"),
            "{text}"
        );
    }
    assert_eq!(fault("a.sh", "case a in\n  b |\\\n  c | # d\n  e)\n    f ;;\nesac\n"), None);
}

#[test]
fn a_missing_do_is_reported() {
    for (name, text) in [
        ("a.sh", "while a\n  b\ndone\n"),
        ("a.lua", "a()\nfor b in c\n  d()\nend\n"),
        ("a.rb", "a.each |b|\n  c\nend\n"),
    ] {
        assert!(fault(name, text).is_some(), "{name}: {text}");
    }
}

#[test]
fn blocks_around_such_forms() {
    use NoBlockReason::{Nothing, Shared, Unclear};
    let spec = "  @doc \"A\"\n  @spec a(b) ::\n          c\n  def a(b) do\n    d\n  end\n";
    let below = "  @spec a(b)\n        :: c\n  def a(b) do\n    d\n  end\n";
    let union = "  @spec a(b) :: c\n        | d\n  def a(b) do\n    e\n  end\n";
    let arms = "<?php\n$a = match ($b) {\n    1 => c(\n        2,\n    ),\n    3 => d(\n        4,\n    ),\n};\n";
    let heredoc = "a() {\n  cat <<EOF\nb: {\n  c\nEOF\n  d\n}\n";
    for (name, text, line, expected) in [
        ("a.ex", spec, 4, Ok((1, 6))),
        ("a.ex", spec, 2, Ok((1, 6))),
        ("a.ex", spec, 3, Err(Nothing)),
        ("a.ex", below, 3, Ok((1, 5))),
        ("a.ex", below, 1, Ok((1, 5))),
        ("a.ex", below, 2, Err(Nothing)),
        ("a.ex", union, 3, Ok((1, 5))),
        ("a.ex", union, 2, Err(Nothing)),
        ("a.php", arms, 3, Ok((3, 5))),
        ("a.php", arms, 6, Ok((6, 8))),
        ("a.php", arms, 2, Ok((2, 9))),
        ("a.sh", heredoc, 1, Ok((1, 7))),
        ("a.sh", heredoc, 2, Ok((2, 5))),
        ("a.sh", heredoc, 3, Err(Nothing)),
        ("a.sql", "SELECT 1\nFROM b\n\\gset\nSELECT 2;\n", 1, Err(Unclear)),
        ("a.sql", "IF a THEN\n  b;\nELSEIF c THEN\n  d;\nEND IF;\n", 3, Err(Unclear)),
        ("a.sh", "case a in\nb)\n  for c in d; do\n    e\n  done ;;\nesac\n", 3, Err(Shared)),
        ("a.sh", "a() {\nb\n  c\n}\n", 1, Err(Unclear)),
        ("a.rb", "a(<<A)\n b\nA\ndef c\n  d(<<E)\nf\nE\nend\n", 4, Ok((4, 8))),
    ] {
        let found = parse(name, text).block(line, &budget());
        let found = found.map(|block| (block.first, block.last)).map_err(|none| none.reason);
        assert_eq!(found, expected, "{name}:{line}\n{text}");
    }
}
