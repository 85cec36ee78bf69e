import Capabilities
import JSON
import Registry
import Screens
import Settings

/// A feature with a list and its detail, a place to write, and actions of each kind.
struct LibraryFeature: Feature {
    static let manifest = Manifest(id: "library", summary: "Books", version: "1.0")
    static let words = EventKind<Void>("words", "Some words", [])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action(
                "library.lend", "Lend a book", .writes, .argument("title", "The book"),
                .argument(
                    "to", "The reader", as: String.self,
                    completion: .dynamic { @Sendable _, _, given in
                        // Names come from outside.
                        let hostile = ["A\u{1B}[2J", "A\u{202E}da", "A\nB", "A\u{7}", "A\u{FFFC}", "Ada", ""]
                        let names = given["title"] == "Emma" ? ["Ada", "Alan Turing", "Bob"] : ["Grace"]
                        return (names + hostile).map { Completion.Candidate($0, "A reader") }
                    })
            ) {
                _, title, reader in "\(title) is with \(reader)"
            })
        registry.add(
            Action("library.burn", "Burn a book", .destroys, .argument("title", "The book")) { _, _ in Nothing() })
        registry.add(
            Action(
                "library.say", "Say something", .writes, .argument("text", "What to say"),
                .option("file", "What to read aloud", as: [ReadPath].self)
            ) { context, text, files in
                let read = files.map { " with \($0.shown)" }
                for word in ["You", " said ", text] + read + ["\nand ", "no", " more"] {
                    try await context.emit(Self.words.event((), text: word))
                }
                return Nothing()
            }
            .streaming([Self.words.declaration]))
        registry.add(
            Action("library.shelve", "Shelve a book", .writes, .argument("order", "Which one")) { _, order in
                "shelved \(order)"
            })
        registry.add(Screen("library.news", "News", .home) { try await $0.show(.text("No news")) })
        registry.add(Screen("library.desk", "Desk", .home) { try await $0.show(.text("Nobody is here")) })
        registry.add(Screen("library.books", "Books", .tab("Shelf")) { try await $0.show(Self.books) })
        registry.add(Screen("library.readers", "Readers", .tab("Shelf")) { try await $0.show(.text("No readers")) })
        registry.add(
            Screen("library.book", "Book", .detail, .argument("title", "The book")) { screen, title in
                try await screen.show(.text("\(title), a novel"))
            })
        registry.add(
            Screen("library.card", "Card", .detail) { screen in
                let form = Form(
                    "library.lend", parameters: ["to"], values: ["title": "Emma", "to": "Ada"], submit: "Lend")
                try await screen.show(Block(.form(form)))
            })
        registry.add(
            Screen("library.talk", "Talk", .detail, .argument("with", "The reader")) { screen, _ in
                try await screen.show(Self.talk)
            })
    }

    static let books = Block(
        .table(
            Table(
                [
                    Schema.Property("title", "The title", .string, role: .name),
                    Schema.Property("year", "The year", .integer(nil)),
                ],
                .all(
                    [("Emma", 1815), ("Persuasion", 1817), ("Sanditon", 1817)].map {
                        ["title": .string($0), "year": .int($1)]
                    }),
                id: ["title"],
                links: [
                    .action("library.lend", "Lend", key: "l", ["title": .row("title")]),
                    .action("library.burn", "Burn", key: "x", ["title": .row("title")]),
                ], detail: .screen("library.book", "Book", ["title": .row("title")]))))

    static let talk = Block.stack([
        .text("Welcome"),
        Block(
            .composer(
                Composer(
                    "library.say", "text", files: "file", command: Composer.Target("library.shelve", "order"),
                    arguments: [:], hint: "Say something"))),
    ])
}

extension Block {
    static func text(_ text: String) -> Block { Block(.text(RichText(text))) }
}
