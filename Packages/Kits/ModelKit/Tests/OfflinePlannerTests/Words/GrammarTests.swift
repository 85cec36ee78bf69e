import Testing

@testable import OfflinePlanner

@Suite("Grammar of the offline model")
struct GrammarTests {
    @Test(
        "Messages become steps",
        arguments: [
            ("find the TODOs", ["look for TODO and FIXME"]),
            ("Any FIXMEs in Sources/Core?", ["look for FIXME in `Sources/Core`"]),
            ("list all the todos in Swift files", ["look for TODO and FIXME in files matching `*.swift`"]),
            ("Can you please search for \"time limit\" in docs?", ["search for `time limit` in `docs`"]),
            ("grep foo", ["search for `foo`"]), ("look for the word bar in the project", ["search for `bar`"]),
            ("which files mention openat2?", ["search for `openat2`"]),
            ("where is Parser used?", ["find where `Parser` is used"]),
            ("who calls the function run() in Sources", ["find where `run` is used in `Sources`"]),
            ("show usages of Parser", ["find where `Parser` is used"]),
            ("where is the struct Parser defined", ["find where `Parser` is defined"]),
            ("read README.md and Makefile", ["read `README.md` and `Makefile`"]),
            ("what does README.md say?", ["read `README.md`"]),
            ("replace foo by bar in a.txt", ["replace `foo` with `bar` in `a.txt`"]),
            ("rename old name to new name everywhere", ["replace `old name` with `new name`"]),
            ("show what replacing a by b in x.txt would do", ["preview replacing `a` with `b` in `x.txt`"]),
            ("fix the second TODO in Sources", ["fix the second TODO in `Sources`"]),
            ("mark the TODO in a/b.swift line 12 as done", ["mark the TODO in `a/b.swift:12` as done"]),
            ("mark a/b.swift:12 as done", ["mark the TODO in `a/b.swift:12` as done"]),
            ("create a.txt with 'and then; x'", ["create `a.txt`"]), ("write \"hi\" to a.txt", ["create `a.txt`"]),
            ("add a line \"x\" to a.txt", ["add `x` to `a.txt`"]),
            ("remove lines 3-5 of a.txt", ["remove lines 3 to 5 of `a.txt`"]),
            ("run the tests", ["run the tests"]), ("do the tests pass?", ["run the tests"]),
            ("run `make lint`", ["run `make lint`"]),
            ("summarise the repository", ["summarise the repository"]),
            ("what is in here?", ["summarise the repository"]),
            ("give me an overview of Sources", ["summarise `Sources`"]),
            ("list the Python files", ["list the files matching `**/*.py`"]),
            ("find files named *.json in config", ["list the files matching `**/*.json` in `config`"]),
            ("find the TODOs and fix the first", ["look for TODO and FIXME", "fix the first TODO"]),
            (
                "Summarise the project. Then run the tests; finally read README.md.",
                ["summarise the repository", "run the tests", "read `README.md`"]
            ),
            ("1. find the TODOs\n2. run the tests\n", ["look for TODO and FIXME", "run the tests"]),
            ("search for salt and pepper", ["search for `salt and pepper`"]),
            ("search for \"a and find b\"", ["search for `a and find b`"]), ("tell me a joke", []), ("thanks!", []),
        ] as [(String, [String])])
    func steps(message: String, words: [String]) {
        #expect(Grammar.plan(for: [message]).steps.map(\.words) == words)
    }

    @Test(
        "Earlier messages give later ones their meaning",
        arguments: [
            (["find the TODOs", "and in Sources?"], ["look for TODO and FIXME in `Sources`"]),
            (["where is A used?", "what about B?"], ["find where `B` is used"]),
            (["search for x", "only Swift files"], ["search for `x` in files matching `*.swift`"]),
            (["fix the first TODO", "apply it"], ["mark the first TODO as done"]),
            (["fix the second TODO", "mark it as done"], ["mark the second TODO as done"]),
            (["read a.txt", "same for b.txt"], ["read `b.txt`"]), (["apply it"], []), (["and in Sources?"], []),
        ] as [([String], [String])])
    func following(messages: [String], words: [String]) {
        #expect(Grammar.plan(for: messages).steps.map(\.words) == words)
    }

    @Test("A clause that was not understood is reported next to one that was")
    func unread() {
        let plan = Grammar.plan(for: ["find the TODOs; wash the dishes"])
        #expect(plan.unread == ["wash the dishes"])
    }

    @Test("A plan is pending until the user asks to carry it out")
    func pending() {
        #expect(Grammar.plan(for: ["make a plan to find the TODOs"]).isPending)
        #expect(!Grammar.plan(for: ["make a plan to find the TODOs and then execute it"]).isPending)
        let plan = Grammar.plan(for: ["plan: find the TODOs; run the tests", "go ahead"])
        #expect(!plan.isPending && plan.steps.count == 2)
    }

    @Test("Quotation marks, fences and JSON keep their content together")
    func tokens() {
        let tokens = Tokenizer.tokens(of: "it's “a b” `c` {\"d\": \"}\"} (e).\n```swift\nf\n```")
        #expect(
            tokens == [
                Token(.word, "it's"), Token(.quoted, "a b"), Token(.quoted, "c"), Token(.json, "{\"d\": \"}\"}"),
                Token(.word, "e"), Token(.mark, ")"), Token(.mark, "."), Token(.quoted, "f\n"),
            ])
    }

    @Test("A file that was attached by its name is named without its mark; an address stays whole")
    func mentions() {
        let tokens = Tokenizer.tokens(of: "read @a.txt and @\"b c\" for me@example.com @")
        #expect(
            tokens == [
                Token(.word, "read"), Token(.word, "a.txt"), Token(.word, "and"), Token(.quoted, "b c"),
                Token(.word, "for"), Token(.word, "me@example.com"), Token(.word, "@"),
            ])
    }

    @Test("A long message full of unclosed marks is read in time", .timeLimit(.minutes(5)))
    func openings() {
        let text =
            String(repeating: "“ { « ‘ word ", count: 20_000) + "```\n" + String(repeating: "{x} ", count: 20_000)
        #expect(Tokenizer.tokens(of: text).count > 100_000)
    }

    @Test(
        "Paths are recognised", arguments: ["a.swift", "a/b", "README", "Makefile", ".env", "a.b.c", "x.tar.gz"])
    func paths(word: String) { #expect(Place(word)?.path == word) }

    @Test("Words are not paths", arguments: ["foo", "1.5", "e.g", "https://a.b/c", "*.swift", "/", ".", "..."])
    func words(word: String) {
        // A single letter after a dot may be a C file, so "e.g" counts as a path.
        #expect((Place(word) == nil) == (word != "e.g"))
    }
}
