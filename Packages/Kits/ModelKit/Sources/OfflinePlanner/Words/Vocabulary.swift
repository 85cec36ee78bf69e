/// Words that the planner recognises, grouped by meaning.
enum Vocabulary {
    static let find: Set<String> = ["find", "search", "grep", "look", "locate", "seek", "scan"]
    static let show: Set<String> = ["show", "list", "give", "display", "print", "tell", "count", "see", "get"]
    static let read: Set<String> = ["read", "open", "cat", "quote", "view", "cite"]
    static let replace: Set<String> = [
        "replace", "change", "rename", "substitute", "replacing", "changing", "renaming", "substituting",
    ]
    static let settle: Set<String> = ["mark", "fix", "resolve", "complete", "finish", "close", "tick"]
    static let add: Set<String> = ["add", "append", "insert", "prepend", "put"]
    static let remove: Set<String> = ["remove", "delete", "drop", "cut"]
    static let create: Set<String> = ["create", "write", "make", "save", "overwrite"]
    static let run: Set<String> = ["run", "execute", "start", "launch", "rerun"]
    static let test: Set<String> = ["test", "tests"]
    static let summarise: Set<String> = [
        "summarise", "summarize", "describe", "explain", "outline", "overview", "explore", "survey", "analyse",
        "analyze", "inspect", "map",
    ]
    static let ask: Set<String> = ["what", "which", "where", "who", "how", "are", "is", "does", "do", "any", "there"]
    static let propose: Set<String> = ["preview", "propose", "suggest", "dry-run", "simulate", "try"]
    static let use: Set<String> = ["use", "call", "repeat"]
    static let agree: Set<String> = ["apply", "yes", "yep", "proceed", "confirm", "ok", "okay", "sure", "go", "carry"]

    /// Words that can start an instruction. After "and" they start another one.
    static let verbs = find.union(show).union(read).union(replace).union(settle).union(add).union(remove)
        .union(create).union(run).union(test).union(summarise).union(propose).union(use)
        .union(["apply", "carry", "where", "plan"])

    /// Words before an instruction that are ignored.
    static let fillers: Set<String> = [
        "please", "can", "could", "would", "you", "me", "now", "also", "first", "next", "finally", "i", "want", "to",
        "need", "let", "let's", "lets", "us", "and", "so", "then", "just", "kindly", "hey", "hi", "hello", "martlet",
        "i'd", "like", "but", "afterwards",
    ]

    static let articles: Set<String> = ["the", "a", "an", "this", "that", "my", "our", "all", "every", "any", "its"]

    /// Nouns that mean the whole project.
    static let whole: Set<String> = [
        "project", "repository", "repo", "code", "codebase", "here", "it", "everything", "everywhere", "workspace",
        "folder", "directory", "tree", "program", "sources", "files", "file", "them", "there",
    ]

    /// Words that introduce the place to search.
    static let places: Set<String> = ["in", "under", "within", "inside", "below", "across", "throughout"]

    static let markers: [String: String] = [
        "todo": "TODO", "todos": "TODO", "to-do": "TODO", "to-dos": "TODO", "todo's": "TODO", "fixme": "FIXME",
        "fixmes": "FIXME", "hack": "HACK", "hacks": "HACK", "xxx": "XXX", "xxxs": "XXX",
    ]

    static let ordinals: [String: Int] = [
        "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
        "ninth": 9, "tenth": 10,
    ]

    /// File names without a dot.
    static let plainFiles: Set<String> = ["readme", "makefile", "dockerfile", "license", "changelog", "gemfile"]

    static let languages: [String: String] = [
        "swift": "*.swift", "python": "*.py", "rust": "*.rs", "go": "*.go", "javascript": "*.{js,jsx,mjs}",
        "typescript": "*.{ts,tsx}", "c": "*.{c,h}", "c++": "*.{cpp,cc,hpp,h}", "java": "*.java", "kotlin": "*.kt",
        "ruby": "*.rb", "markdown": "*.md", "json": "*.json", "yaml": "*.{yml,yaml}", "toml": "*.toml",
        "shell": "*.sh", "html": "*.html", "css": "*.css", "text": "*.txt",
    ]
}
