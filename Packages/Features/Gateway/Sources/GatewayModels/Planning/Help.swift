/// What the model says when there is nothing that it can do about a message.
enum Help {
    /// - Parameter isKnown: whether all of it was said in this conversation before.
    static func text(after question: String, tools: [String], isKnown: Bool) -> String {
        if isKnown, !asksForHelp(question) { return [short, provider].joined(separator: "\n\n") }
        return [introduction(after: question), abilities, toolWords(tools), provider].joined(separator: "\n\n")
    }

    /// What the introduction is known by.
    static let name = "I am **martlet-offline**"

    private static let short = """
        That is beyond me: I follow fixed rules, with no weights and no network. Say **help** for what I can do.
        """

    private static func introduction(after question: String) -> String {
        let words = Tokenizer.tokens(of: question)
        let isGreeting = words.allSatisfy { $0.kind == .mark || Vocabulary.fillers.contains($0.lower) }
        return """
            \(isGreeting || asksForHelp(question) ? "" : "That is beyond me. ")\(name), a small planner that follows fixed \
            rules. There is no language model in me: no weights and no network. I cannot chat or write new code, but I \
            really use the tools of a project.
            """
    }

    private static func asksForHelp(_ question: String) -> Bool {
        let clause = Clause(Tokenizer.tokens(of: question))
        return clause.contains(["help", "who", "capabilities"]) && clause.tokens.count < 8
    }

    private static let abilities = """
        What you can say:

        - `summarise this repository`, `list the Swift files`
        - `find the TODOs`, `search for "time limit" in Sources`, `where is Parser used?`
        - `read README.md lines 1 to 20`
        - `replace "helo" by "hello" in README.md`, or `preview replacing …` and then `apply it`
        - `add a line "done" to NOTES.md`, `remove line 3 of NOTES.md`, `create NOTES.md with "…"`
        - `mark the TODO in main.swift line 12 as done`
        - `run the tests`, ``run `make lint` ``
        - several at once: `find the TODOs and mark the first as done, then run the tests`
        - `make a plan to …`, which I carry out when you say `go on`
        """

    private static func toolWords(_ tools: [String]) -> String {
        guard !tools.isEmpty else { return "This conversation offers me no tools, so for now I can do none of it." }
        let known = Set(Tool.allCases.map { ToolShelf.plain($0.rawValue) })
        let missing = known.subtracting(tools.map(ToolShelf.plain))
        return missing.isEmpty
            ? "All the tools that I know are at hand."
            : "Not all of my tools are offered here, so some of it may not work."
    }

    static let provider = """
        For a real conversation add a provider: `martlet auth secret set openai` stores a key, `OPENAI_API_KEY` in the \
        environment does as well, and a local server such as Ollama or llama.cpp needs none.
        """
}
