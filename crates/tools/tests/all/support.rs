//! A directory with files, and the tools over a session in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hashline_core::host::Value;
use hashline_core::{ApplyOptions, Cancel, Durability, Session, SessionOptions, WorkspaceOptions};
use hashline_tools::{CallOptions, Names, ToolKind, ToolResult, Tools, ToolsOptions};
use serde_json::Value as Json;
use tempfile::TempDir;

/// The contents of files, by their names.
pub type Files = BTreeMap<String, String>;

pub struct Project {
    pub tools: Tools,
    dir: PathBuf,
    _home: TempDir,
}

impl Project {
    /// A project whose session has the default dialect.
    pub fn new(files: &[(&str, &str)]) -> Project {
        let files = files.iter().map(|(name, content)| ((*name).into(), (*content).into()));
        Project::with(&files.collect(), SessionOptions::default())
    }

    pub fn with(files: &Files, options: SessionOptions) -> Project {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().canonicalize().unwrap().join("files");
        fs::create_dir(&dir).unwrap();
        let workspace = WorkspaceOptions {
            root: dir.clone().into(),
            state_dir: Some(home.path().join("state")),
            apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
            ..options.workspace
        };
        let session = Session::new(SessionOptions { workspace, ..options }).unwrap();
        let tools = Tools::new(&session, ToolsOptions::default());
        let project = Project { tools, dir, _home: home };
        for (name, content) in files {
            project.write(name, content);
        }
        project
    }

    pub fn dir(&self) -> &str {
        self.dir.to_str().unwrap()
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn write_bytes(&self, name: &str, content: &[u8]) {
        fs::write(self.dir.join(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.dir.join(name)).unwrap()
    }

    pub fn content(&self, name: &str) -> String {
        fs::read_to_string(self.dir.join(name)).unwrap()
    }

    /// The current contents of all files.
    pub fn files(&self) -> Files {
        fn collect(dir: &Path, root: &Path, files: &mut Files) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(&path, root, files);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
        let mut files = Files::new();
        collect(&self.dir, &self.dir, &mut files);
        files
    }

    /// Calls a tool with arguments as data, or as text if they are a string.
    pub fn call(&self, tool: &str, arguments: &Json) -> ToolResult {
        self.run(tool, arguments.clone().into())
    }

    pub fn run(&self, tool: &str, arguments: Value) -> ToolResult {
        let kind = kind_of(tool);
        let (turn, options) = (self.tools.enter(kind, None), CallOptions::default());
        self.tools.run(kind, turn, Ok(arguments), &options, &Cancel::default(), &|_, _| {}).unwrap()
    }
}

pub fn kind_of(tool: &str) -> ToolKind {
    let names = Names::default();
    ToolKind::ALL.into_iter().find(|&kind| names.of(kind) == tool).unwrap()
}
