//! The table of languages, one row for each. No other code depends on the name of a language.

use std::fmt;

use tree_sitter_language::LanguageFn;

use crate::lexical::table::{self, Lexicon};
use crate::mask::{self, Masks};
use crate::required::{self, Rules};
use crate::scanner;

/// A language: how it is detected and parsed, and the kinds of its nodes.
pub struct Language {
    /// The name in messages.
    pub name: &'static str,
    /// Exact file names.
    pub(crate) files: &'static [&'static str],
    /// File extensions, without the dot.
    pub(crate) extensions: &'static [&'static str],
    /// Programs in a `#!` line, without versions.
    pub(crate) interpreters: &'static [&'static str],
    /// Names in mode lines of editors.
    pub(crate) modes: &'static [&'static str],
    pub(crate) grammar: Grammar,
    /// Its words and brackets, if it has no grammar, or only for a part of what is checked.
    pub(crate) lexicon: Option<&'static Lexicon>,
    /// Whether edits that break a file are reported. False if valid files often fail to parse.
    pub is_checked: bool,
    /// Whether a wrong indentation may parse, so that the parser does not verify it.
    pub is_indented: bool,
    /// Whether a comma may follow the last value, although the grammar has no rule for it.
    pub(crate) allows_trailing_commas: bool,
    /// Valid constructs that the grammar lacks.
    pub(crate) masks: &'static Masks,
    /// Whether it is data, in which a mapping has each key once.
    pub(crate) has_keys: bool,
    /// What the grammar lets be missing.
    pub(crate) required: &'static Rules,
    pub(crate) kinds: &'static Kinds,
}

impl Language {
    /// Whether errors of the tree count. The grammar of C knows no macros, so C is checked by its
    /// brackets.
    pub(crate) fn checks_tree(&self) -> bool {
        self.lexicon.is_none() || matches!(self.grammar, Grammar::Script(..))
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

/// How a text is parsed.
#[derive(Clone, Copy)]
pub(crate) enum Grammar {
    /// The whole text is in one language.
    Whole(LanguageFn),
    /// Only the content of `<script>` is parsed: with the first grammar, or with the second if
    /// `lang` says that it is TypeScript.
    Script(LanguageFn, LanguageFn),
    /// No parser: headings, and the text below them.
    Headings,
    /// No parser: only the lexicon.
    None,
}

/// The kinds of nodes of a grammar, by their names in the grammar.
pub(crate) struct Kinds {
    /// Plain lists: no block starts with one.
    pub lists: &'static [&'static str],
    pub comments: &'static [&'static str],
    /// Decorators, attributes and annotations, which belong to what they precede.
    pub attributes: &'static [&'static str],
    /// Strings and the like, in which no block starts.
    pub texts: &'static [&'static str],
    /// Clauses that can contain the next `if` of an `else if` chain.
    pub clauses: &'static [&'static str],
    /// Nodes that are folded although they have no brackets.
    pub bodies: &'static [&'static str],
    /// Definitions, and the fields with their names.
    pub definitions: &'static [(&'static str, &'static [&'static str])],
    /// Definitions that add to a type which is defined elsewhere.
    pub extensions: &'static [&'static str],
    /// What is next to the name of a definition; `None` if that can be anything.
    pub names: Option<NameForms>,
    /// Nodes that are definitions if their value is a function or class: kind, name, value.
    pub bindings: &'static [(&'static str, &'static str, &'static str)],
    pub functions: &'static [&'static str],
    /// Definitions that only a lookup by name finds: an outline with all variables, constants and
    /// members would be long.
    pub values: &'static [Value],
    /// Functions: variables in them are local.
    pub scopes: &'static [&'static str],
    /// Whether a text is a list of items with the tokens of Rust, each of which can be parsed
    /// alone.
    pub has_items: bool,
    /// Whether only definitions of more than one line count, as in data.
    pub only_long: bool,
    pub tests: Tests,
}

/// A kind of node that defines variables, constants or members.
pub(crate) struct Value {
    pub kind: &'static str,
    /// The field with the names, with patterns of them or with declarators; the first child if empty.
    pub names: &'static str,
    pub role: Role,
    pub when: When,
}

/// What a name is in its file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is a definition unless it is in a function.
    Variable,
    /// It can be assigned several times; only the first time in each class or module counts.
    Assigned,
    /// It has no scope, such as a macro.
    Global,
    /// It belongs to a type. Something else with its name in the same file is preferred to it.
    Member,
    /// The same, and only the lines of the name belong to it.
    Listed,
    /// Another name of the definition that the node is: one of a list of selectors.
    Alias,
}

impl Role {
    /// Whether it is local in a function.
    pub fn has_scope(self) -> bool {
        matches!(self, Role::Variable | Role::Assigned)
    }
}

/// Which nodes of a kind are definitions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Not what is imported: `const fs = require('fs')`.
    NotImported,
    /// `exports.name = …`, unless the value is just another name.
    Exported,
    /// A parameter that is also a field: `constructor(private name: string)`.
    HasModifier,
    /// The declaration of a function.
    IsPrototype,
    /// The name starts with `--`.
    IsCustomProperty,
}

const fn value(kind: &'static str, names: &'static str, role: Role) -> Value {
    Value { kind, names, role, when: When::Always }
}

/// How tests are recognized.
#[derive(Clone, Copy)]
pub(crate) enum Tests {
    None,
    /// By an attribute or annotation before the definition that contains one of these words.
    Attributes(&'static [&'static str]),
    /// By a prefix of the name.
    Names(&'static [&'static str]),
    /// By a call of one of these functions with a string as its name.
    Calls(&'static [&'static str]),
}

/// What is next to the name of a definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameForms {
    /// Words before the name.
    pub words: &'static [&'static str],
    /// Whether a parenthesis can follow the name of a function, without a word before it.
    pub is_before_parenthesis: bool,
    /// Whether a name can be the first word of its line, or follow a bracket.
    pub begins_line: bool,
    /// Whether a name can be at the end of a `typedef`.
    pub is_typedef: bool,
    /// Whether an `enum` lists its members in braces.
    pub has_enums: bool,
    /// How the name of a variable is recognized by the text next to it.
    pub variables: Variables,
    /// What starts a comment to the end of the line.
    pub comment: &'static str,
}

/// What is next to the name of a variable or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    /// Only one of the words before names.
    Words,
    /// Words, or a word and more names with commas.
    Lists,
    /// It starts the line, alone or with others, and `=` or `:` follows.
    Lines,
    /// A type precedes it.
    Typed,
    /// A value or type follows, or it is in a pattern or a class.
    Bound,
}

const fn names(words: &'static [&'static str]) -> NameForms {
    NameForms {
        words,
        is_before_parenthesis: false,
        begins_line: false,
        is_typedef: false,
        has_enums: false,
        variables: Variables::Words,
        comment: "//",
    }
}

const NAME: &[&str] = &["name"];

const JAVASCRIPT: Kinds = Kinds {
    lists: &[
        "program",
        "statement_block",
        "class_body",
        "switch_body",
        "interface_body",
        "enum_body",
        "object_type",
        "formal_parameters",
        "arguments",
    ],
    comments: &["comment", "html_comment"],
    attributes: &["decorator"],
    texts: &["string", "template_string", "jsx_text", "regex"],
    clauses: &["else_clause"],
    bodies: &["jsx_element"],
    definitions: &[
        ("function_declaration", NAME),
        ("generator_function_declaration", NAME),
        ("class_declaration", NAME),
        ("abstract_class_declaration", NAME),
        ("method_definition", NAME),
        ("function_signature", NAME),
        ("abstract_method_signature", NAME),
        ("method_signature", NAME),
        ("interface_declaration", NAME),
        ("enum_declaration", NAME),
        ("type_alias_declaration", NAME),
        ("internal_module", NAME),
        ("module", NAME),
    ],
    extensions: &[],
    names: Some(NameForms {
        is_before_parenthesis: true,
        has_enums: true,
        variables: Variables::Bound,
        ..names(&[
            "function",
            "class",
            "interface",
            "enum",
            "type",
            "namespace",
            "module",
            "const",
            "let",
            "var",
        ])
    }),
    bindings: &[
        ("variable_declarator", "name", "value"),
        ("assignment_expression", "left", "right"),
        ("pair", "key", "value"),
        ("field_definition", "property", "value"),
        ("public_field_definition", "name", "value"),
    ],
    functions: &["arrow_function", "function_expression", "generator_function", "class"],
    values: &[
        Value { when: When::NotImported, ..value("variable_declarator", "name", Role::Variable) },
        Value { when: When::Exported, ..value("assignment_expression", "left", Role::Variable) },
        value("field_definition", "property", Role::Member),
        value("public_field_definition", "name", Role::Member),
        Value { when: When::HasModifier, ..value("required_parameter", "pattern", Role::Member) },
        value("property_signature", "name", Role::Variable),
        value("internal_module", "name", Role::Alias),
        value("enum_body", "name", Role::Listed),
        value("enum_assignment", "name", Role::Member),
    ],
    scopes: &[
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "class_static_block",
        "for_statement",
    ],
    has_items: false,
    only_long: false,
    tests: Tests::Calls(&[
        "describe",
        "it",
        "test",
        "suite",
        "context",
        "specify",
        "bench",
        "beforeEach",
        "afterEach",
        "beforeAll",
        "afterAll",
    ]),
};

const PYTHON: Kinds = Kinds {
    lists: &["module", "block", "argument_list", "parameters", "expression_list"],
    comments: &["comment"],
    attributes: &["decorator"],
    texts: &["string"],
    clauses: &[],
    bodies: &["block"],
    definitions: &[("function_definition", NAME), ("class_definition", NAME)],
    extensions: &[],
    names: Some(NameForms {
        variables: Variables::Lines,
        comment: "#",
        ..names(&["def", "class", "type"])
    }),
    bindings: &[("assignment", "left", "right")],
    functions: &["lambda"],
    values: &[
        value("assignment", "left", Role::Assigned),
        value("type_alias_statement", "left", Role::Variable),
    ],
    scopes: &["function_definition"],
    has_items: false,
    only_long: false,
    tests: Tests::Names(&["test", "Test"]),
};

const RUST: Kinds = Kinds {
    lists: &[
        "source_file",
        "block",
        "declaration_list",
        "field_declaration_list",
        "ordered_field_declaration_list",
        "field_initializer_list",
        "enum_variant_list",
        "match_block",
        "arguments",
        "parameters",
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["attribute_item"],
    texts: &["string_literal", "raw_string_literal"],
    clauses: &["else_clause"],
    bodies: &[],
    definitions: &[
        ("function_item", NAME),
        ("function_signature_item", NAME),
        ("struct_item", NAME),
        ("enum_item", NAME),
        ("union_item", NAME),
        ("trait_item", NAME),
        ("impl_item", &["trait", "type"]),
        ("mod_item", NAME),
        ("macro_definition", NAME),
        ("const_item", NAME),
        ("static_item", NAME),
        ("type_item", NAME),
    ],
    extensions: &["impl_item"],
    names: Some(NameForms {
        has_enums: true,
        ..names(&[
            "fn",
            "struct",
            "enum",
            "union",
            "trait",
            "mod",
            "macro_rules",
            "const",
            "static",
            "type",
        ])
    }),
    bindings: &[],
    functions: &[],
    values: &[
        value("enum_variant", "name", Role::Member),
        value("associated_type", "name", Role::Member),
    ],
    scopes: &[],
    has_items: true,
    only_long: false,
    tests: Tests::Attributes(&["test", "rstest", "test_case"]),
};

const GO: Kinds = Kinds {
    lists: &[
        "source_file",
        "block",
        "statement_list",
        "expression_list",
        "field_declaration_list",
        "literal_value",
        "parameter_list",
        "argument_list",
    ],
    comments: &["comment"],
    attributes: &[],
    texts: &["raw_string_literal", "interpreted_string_literal"],
    clauses: &[],
    bodies: &[],
    definitions: &[
        ("function_declaration", NAME),
        ("method_declaration", &["receiver", "name"]),
        ("type_spec", NAME),
        ("type_alias", NAME),
    ],
    extensions: &[],
    names: Some(NameForms {
        begins_line: true,
        variables: Variables::Lists,
        ..names(&["func", "type", "var", "const"])
    }),
    bindings: &[],
    functions: &[],
    values: &[
        value("const_spec", "name", Role::Variable),
        value("var_spec", "name", Role::Variable),
        value("method_elem", "name", Role::Member),
    ],
    scopes: &["function_declaration", "method_declaration", "func_literal"],
    has_items: false,
    only_long: false,
    tests: Tests::Names(&["Test", "Benchmark", "Fuzz", "Example"]),
};

const JAVA: Kinds = Kinds {
    lists: &[
        "program",
        "block",
        "class_body",
        "constructor_body",
        "interface_body",
        "annotation_type_body",
        "enum_body",
        "enum_body_declarations",
        "switch_block",
        "formal_parameters",
        "argument_list",
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation", "marker_annotation"],
    texts: &["string_literal"],
    clauses: &[],
    bodies: &[],
    definitions: &[
        ("class_declaration", NAME),
        ("interface_declaration", NAME),
        ("annotation_type_declaration", NAME),
        ("enum_declaration", NAME),
        ("record_declaration", NAME),
        ("method_declaration", NAME),
        ("constructor_declaration", NAME),
        ("compact_constructor_declaration", NAME),
    ],
    extensions: &[],
    names: Some(NameForms {
        is_before_parenthesis: true,
        has_enums: true,
        variables: Variables::Typed,
        ..names(&["class", "interface", "enum", "record"])
    }),
    bindings: &[],
    functions: &[],
    values: &[
        value("field_declaration", "declarator", Role::Member),
        value("constant_declaration", "declarator", Role::Member),
        value("enum_constant", "name", Role::Member),
        value("annotation_type_element_declaration", "name", Role::Member),
    ],
    scopes: &[],
    has_items: false,
    only_long: false,
    tests: Tests::Attributes(&["Test", "ParameterizedTest", "RepeatedTest", "TestFactory"]),
};

const C: Kinds = Kinds {
    lists: &[
        "translation_unit",
        "compound_statement",
        "declaration_list",
        "field_declaration_list",
        "enumerator_list",
        "initializer_list",
        "parameter_list",
        "argument_list",
    ],
    comments: &["comment"],
    attributes: &["attribute_declaration"],
    texts: &["string_literal", "raw_string_literal"],
    clauses: &["else_clause"],
    bodies: &[],
    definitions: &[
        ("function_definition", &["declarator"]),
        ("struct_specifier", NAME),
        ("union_specifier", NAME),
        ("enum_specifier", NAME),
        ("class_specifier", NAME),
        ("namespace_definition", NAME),
        ("preproc_function_def", NAME),
        ("type_definition", &["declarator"]),
        ("concept_definition", NAME),
    ],
    extensions: &[],
    names: Some(NameForms {
        is_before_parenthesis: true,
        is_typedef: true,
        has_enums: true,
        variables: Variables::Typed,
        ..names(&["struct", "union", "enum", "class", "namespace", "concept", "define", "using"])
    }),
    bindings: &[],
    functions: &[],
    values: &[
        value("declaration", "declarator", Role::Variable),
        Value { when: When::IsPrototype, ..value("field_declaration", "declarator", Role::Member) },
        value("type_definition", "declarator", Role::Global),
        value("alias_declaration", "name", Role::Global),
        value("preproc_def", "name", Role::Global),
        value("enumerator", "name", Role::Member),
    ],
    scopes: &["function_definition", "lambda_expression"],
    has_items: false,
    only_long: false,
    tests: Tests::None,
};

const JSON: Kinds = Kinds {
    lists: &["document"],
    comments: &["comment"],
    attributes: &[],
    texts: &["string"],
    clauses: &[],
    bodies: &[],
    definitions: &[("pair", &["key"])],
    extensions: &[],
    names: None,
    bindings: &[],
    functions: &[],
    values: &[],
    scopes: &[],
    has_items: false,
    only_long: true,
    tests: Tests::None,
};

const CSS: Kinds = Kinds {
    lists: &["stylesheet", "block", "keyframe_block_list"],
    comments: &["comment", "js_comment"],
    attributes: &[],
    texts: &["string_value"],
    clauses: &[],
    bodies: &[],
    definitions: &[
        ("rule_set", &[]),
        ("media_statement", &[]),
        ("supports_statement", &[]),
        ("keyframes_statement", &[]),
        ("keyframe_block", &[]),
        ("at_rule", &[]),
    ],
    extensions: &[],
    names: None,
    bindings: &[],
    functions: &[],
    values: &[
        Value { when: When::IsCustomProperty, ..value("declaration", "", Role::Global) },
        value("rule_set", "", Role::Alias),
        value("keyframes_statement", "", Role::Alias),
    ],
    scopes: &[],
    has_items: false,
    only_long: true,
    tests: Tests::None,
};

const TOML: Kinds = Kinds {
    lists: &["document"],
    comments: &["comment"],
    attributes: &[],
    texts: &["string"],
    clauses: &[],
    bodies: &["table", "table_array_element"],
    definitions: &[("table", &[]), ("table_array_element", &[])],
    extensions: &[],
    names: None,
    bindings: &[],
    functions: &[],
    values: &[],
    scopes: &[],
    has_items: false,
    only_long: false,
    tests: Tests::None,
};

const YAML: Kinds = Kinds {
    lists: &["stream", "document", "block_node", "block_mapping", "block_sequence"],
    comments: &["comment"],
    attributes: &[],
    texts: &["plain_scalar", "block_scalar", "double_quote_scalar", "single_quote_scalar"],
    clauses: &[],
    bodies: &["block_mapping", "block_sequence"],
    definitions: &[("block_mapping_pair", &["key"])],
    extensions: &[],
    names: None,
    bindings: &[],
    functions: &[],
    values: &[],
    scopes: &[],
    has_items: false,
    only_long: true,
    tests: Tests::None,
};

/// Those of languages without a grammar.
const NO_KINDS: Kinds = Kinds {
    lists: &[],
    comments: &[],
    attributes: &[],
    texts: &[],
    clauses: &[],
    bodies: &[],
    definitions: &[],
    extensions: &[],
    names: None,
    bindings: &[],
    functions: &[],
    values: &[],
    scopes: &[],
    has_items: false,
    only_long: false,
    tests: Tests::None,
};

/// The values that most rows share.
const fn row(name: &'static str, grammar: LanguageFn, kinds: &'static Kinds) -> Language {
    Language {
        name,
        files: &[],
        extensions: &[],
        interpreters: &[],
        modes: &[],
        grammar: Grammar::Whole(grammar),
        lexicon: None,
        is_checked: true,
        is_indented: false,
        allows_trailing_commas: false,
        masks: &mask::NONE,
        required: &required::NONE,
        has_keys: false,
        kinds,
    }
}

/// The row of a language without a grammar.
const fn lexical(name: &'static str, lexicon: &'static Lexicon) -> Language {
    Language {
        grammar: Grammar::None,
        lexicon: Some(lexicon),
        ..row(name, tree_sitter_json::LANGUAGE, &NO_KINDS)
    }
}

/// All languages.
pub static LANGUAGES: &[Language] = &[
    Language {
        extensions: &["js", "mjs", "cjs", "jsx"],
        interpreters: &["node", "nodejs"],
        modes: &["javascript", "js", "js2", "jsx", "rjsx", "javascriptreact"],
        required: &required::JAVASCRIPT,
        ..row("JavaScript", tree_sitter_javascript::LANGUAGE, &JAVASCRIPT)
    },
    Language {
        extensions: &["ts", "mts", "cts"],
        interpreters: &["deno", "bun", "ts-node", "tsx"],
        modes: &["typescript"],
        masks: &mask::TYPESCRIPT,
        required: &required::JAVASCRIPT,
        ..row("TypeScript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &JAVASCRIPT)
    },
    Language {
        extensions: &["tsx"],
        modes: &["typescriptreact"],
        masks: &mask::TSX,
        required: &required::JAVASCRIPT,
        ..row("TSX", tree_sitter_typescript::LANGUAGE_TSX, &JAVASCRIPT)
    },
    Language {
        extensions: &["py", "pyi", "pyw"],
        interpreters: &["python", "pypy"],
        modes: &["python"],
        is_indented: true,
        required: &required::PYTHON,
        ..row("Python", scanner::PYTHON, &PYTHON)
    },
    Language {
        extensions: &["rs"],
        modes: &["rust"],
        masks: &mask::RUST,
        ..row("Rust", scanner::RUST, &RUST)
    },
    Language {
        extensions: &["go"],
        modes: &["go"],
        required: &required::GO,
        ..row("Go", tree_sitter_go::LANGUAGE, &GO)
    },
    Language {
        extensions: &["java"],
        modes: &["java"],
        masks: &mask::JAVA,
        ..row("Java", tree_sitter_java::LANGUAGE, &JAVA)
    },
    Language {
        files: &[".babelrc", ".eslintrc", ".prettierrc", "composer.lock"],
        extensions: &["json", "geojson", "webmanifest"],
        modes: &["json"],
        required: &required::JSON,
        has_keys: true,
        ..row("JSON", tree_sitter_json::LANGUAGE, &JSON)
    },
    Language {
        files: &["devcontainer.json", "jsconfig.json", "tsconfig.json"],
        extensions: &["jsonc", "code-workspace"],
        modes: &["jsonc"],
        allows_trailing_commas: true,
        required: &required::JSON,
        has_keys: true,
        ..row("JSON with comments", tree_sitter_json::LANGUAGE, &JSON)
    },
    Language {
        extensions: &["css"],
        modes: &["css"],
        masks: &mask::CSS,
        ..row("CSS", tree_sitter_css::LANGUAGE, &CSS)
    },
    Language {
        files: &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"],
        extensions: &["toml"],
        modes: &["toml", "conf-toml"],
        has_keys: true,
        ..row("TOML", tree_sitter_toml_ng::LANGUAGE, &TOML)
    },
    Language {
        files: &[".clang-format", ".clang-tidy"],
        extensions: &["yaml", "yml"],
        modes: &["yaml"],
        is_indented: true,
        masks: &mask::YAML,
        has_keys: true,
        ..row("YAML", scanner::YAML, &YAML)
    },
    Language {
        extensions: &["c", "h"],
        modes: &["c"],
        lexicon: Some(&table::C),
        ..row("C", tree_sitter_c::LANGUAGE, &C)
    },
    Language {
        extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp"],
        modes: &["cpp", "c++"],
        ..lexical("C++", &table::CPP)
    },
    Language { extensions: &["cs"], modes: &["csharp"], ..lexical("C#", &table::CSHARP) },
    Language {
        extensions: &["php"],
        interpreters: &["php"],
        modes: &["php"],
        ..lexical("PHP", &table::PHP)
    },
    Language {
        files: &["Rakefile", "Gemfile"],
        extensions: &["rb", "rake", "gemspec"],
        interpreters: &["ruby"],
        modes: &["ruby"],
        ..lexical("Ruby", &table::RUBY)
    },
    Language {
        extensions: &["kt", "kts"],
        modes: &["kotlin"],
        ..lexical("Kotlin", &table::KOTLIN)
    },
    Language {
        extensions: &["swift"],
        interpreters: &["swift"],
        modes: &["swift"],
        ..lexical("Swift", &table::SWIFT)
    },
    Language {
        files: &[".bashrc", ".bash_profile", ".profile"],
        extensions: &["sh", "bash"],
        interpreters: &["sh", "bash", "dash", "ksh"],
        modes: &["sh", "bash", "shell-script"],
        ..lexical("Shell", &table::SHELL)
    },
    Language { extensions: &["scss"], modes: &["scss"], ..lexical("SCSS", &table::SCSS) },
    Language { extensions: &["less"], modes: &["less"], ..lexical("Less", &table::SCSS) },
    Language { extensions: &["html", "htm"], modes: &["html"], ..lexical("HTML", &table::HTML) },
    Language {
        extensions: &["xml", "xsd", "xsl", "xslt", "svg", "csproj", "vcxproj", "wsdl"],
        modes: &["xml", "nxml"],
        ..lexical("XML", &table::XML)
    },
    Language {
        extensions: &["lua"],
        interpreters: &["lua", "luajit"],
        modes: &["lua"],
        ..lexical("Lua", &table::LUA)
    },
    Language {
        extensions: &["tf", "tfvars", "hcl"],
        modes: &["terraform", "hcl"],
        ..lexical("Terraform", &table::TERRAFORM)
    },
    Language { extensions: &["sql"], modes: &["sql"], ..lexical("SQL", &table::SQL) },
    Language {
        files: &["Dockerfile", "Containerfile"],
        extensions: &["dockerfile"],
        modes: &["dockerfile"],
        ..lexical("Dockerfile", &table::DOCKERFILE)
    },
    Language { extensions: &["dart"], modes: &["dart"], ..lexical("Dart", &table::DART) },
    Language {
        extensions: &["scala", "sbt"],
        modes: &["scala"],
        is_indented: true,
        ..lexical("Scala", &table::SCALA)
    },
    Language {
        extensions: &["ex", "exs"],
        interpreters: &["elixir"],
        modes: &["elixir"],
        ..lexical("Elixir", &table::ELIXIR)
    },
    Language {
        files: &["Jenkinsfile"],
        extensions: &["groovy", "gradle"],
        interpreters: &["groovy"],
        modes: &["groovy"],
        ..lexical("Groovy", &table::GROOVY)
    },
    Language { extensions: &["zig"], modes: &["zig"], ..lexical("Zig", &table::ZIG) },
    Language {
        extensions: &["proto"],
        modes: &["protobuf"],
        ..lexical("Protobuf", &table::PROTOBUF)
    },
    Language {
        extensions: &["graphql", "gql"],
        modes: &["graphql"],
        ..lexical("GraphQL", &table::GRAPHQL)
    },
    Language {
        extensions: &["ps1", "psm1", "psd1"],
        interpreters: &["pwsh"],
        modes: &["powershell"],
        ..lexical("PowerShell", &table::POWERSHELL)
    },
    Language {
        extensions: &["vue"],
        modes: &["vue"],
        grammar: SCRIPT,
        lexicon: Some(&table::VUE),
        masks: &mask::TYPESCRIPT,
        required: &required::JAVASCRIPT,
        ..row("Vue", tree_sitter_javascript::LANGUAGE, &JAVASCRIPT)
    },
    Language {
        extensions: &["svelte"],
        modes: &["svelte"],
        grammar: SCRIPT,
        lexicon: Some(&table::SVELTE),
        masks: &mask::TYPESCRIPT,
        required: &required::JAVASCRIPT,
        ..row("Svelte", tree_sitter_javascript::LANGUAGE, &JAVASCRIPT)
    },
    Language {
        extensions: &["md", "markdown"],
        modes: &["markdown", "gfm"],
        grammar: Grammar::Headings,
        is_checked: false,
        ..row("Markdown", tree_sitter_json::LANGUAGE, &NO_KINDS)
    },
];

const SCRIPT: Grammar =
    Grammar::Script(tree_sitter_javascript::LANGUAGE, tree_sitter_typescript::LANGUAGE_TYPESCRIPT);
