import Testing

@testable import TerminalKit

@Suite struct MarkdownLinkTests {
    @Test(
        "A link shows its address unless its text already does",
        arguments: [
            ("[text](https://a.example/x)", "text (https://a.example/x)"),
            ("[text](https://a.example \"title\")", "text (https://a.example \"title\")"),
            ("<https://a.example>", "https://a.example"), ("see www.a.example.", "see www.a.example."),
            ("<me@a.example>", "me@a.example"), ("[a.example](https://a.example)", "a.example"),
            ("[a.example](https://evil.example)", "a.example (https://evil.example)"),
            ("[](https://a.example)", "https://a.example"),
            ("[doc](docs/x.md)", "doc (docs/x.md)"), ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
            ("[empty]()", "empty"), ("![alt *text*](a.png)", "alt *text* (a.png)"), ("![](a.png)", "a.png"),
            ("[![alt](i.png)](https://a.example)", "alt (i.png) (https://a.example)"), ("[open", "[open"),
        ])
    func withoutLinks(text: String, line: String) {
        #expect(drawn(text, 80) == [line])
    }

    @Test(
        "A terminal that supports links gets the address instead of the reader",
        arguments: [
            ("[text](https://a.example/x)", "text", "https://a.example/x"),
            ("[text](https://a.example/ü)", "text", "https://a.example/%C3%BC"),
            ("[me](mailto:me@a.example)", "me", "mailto:me@a.example"),
            ("<https://a.example>", "https://a.example", "https://a.example"),
            ("[a.example](https://evil.example)", "a.example (https://evil.example)", "https://evil.example"),
            ("[x](javascript:alert(1))", "x (javascript:alert(1))", nil),
            ("[x](file:///etc/passwd)", "x (file:///etc/passwd)", nil),
            ("[x](docs/x.md)", "x (docs/x.md)", nil),
        ])
    func withLinks(text: String, shown: String, address: String?) {
        let lines = Markdown.render(text, width: 80, level: .ansi16, links: true)
        #expect(lines.map(\.plainText) == [shown])
        #expect(lines.first?.runs.first?.style.link?.address == address)
    }

    @Test(
        "An address is shown beside the link where that is asked for, but not twice",
        arguments: [
            ("[text](https://a.example/x)", "text (https://a.example/x)", "https://a.example/x"),
            ("[text](https://a.example/ü)", "text (https://a.example/ü)", "https://a.example/%C3%BC"),
            ("<https://a.example>", "https://a.example", "https://a.example"),
            ("see www.a.example.", "see www.a.example.", "http://www.a.example"),
            ("[a.example](https://a.example)", "a.example", "https://a.example"),
            ("[a.example](https://evil.example)", "a.example (https://evil.example)", "https://evil.example"),
            ("[x](javascript:alert(1))", "x (javascript:alert(1))", nil), ("[x](docs/x.md)", "x (docs/x.md)", nil),
            (
                "[x](<https://a.example/\u{1B}\\\u{7}\u{202E}>)", "x (https://a.example/␛\\␇‹U+202E›)",
                "https://a.example/%E2%90%9B\\%E2%90%87%E2%80%B9U+202E%E2%80%BA"
            ),
        ])
    func beside(text: String, shown: String, address: String?) throws {
        let lines = Markdown.render(text, width: 80, level: .ansi16, links: true, showsAddresses: true)
        #expect(lines.map(\.plainText) == [shown])
        let links = lines.flatMap(\.runs).compactMap { $0.style.link?.address }
        #expect(Set(links) == Set([address].compactMap { $0 }))
        var stream = MarkdownStream(width: 80, level: .ansi16, links: true, showsAddresses: true)
        #expect(stream.append(text) + stream.finish() == lines)
    }

    @Test(
        "A text that looks like an address does not hide another address",
        arguments: [
            "https://good.example (secure)", "see good.example", "good．example now", "good。example", "good∕path it",
            "www.good.example here", "me@good.example (me)", "at 10.0.0.1 now", "good·example",
        ])
    func hidden(text: String) {
        let lines = Markdown.render("[\(text)](https://evil.example/x)", width: 120, level: .ansi16, links: true)
        #expect(lines.map(\.plainText) == ["\(text) (https://evil.example/x)"])
    }

    @Test(
        "A text without an address leaves the address to the terminal",
        arguments: ["the docs", "don’t panic", "Swift 6.3", "and/or — so"])
    func words(text: String) {
        let lines = Markdown.render("[\(text)](https://a.example/x)", width: 120, level: .ansi16, links: true)
        #expect(lines.map(\.plainText) == [text])
    }

    @Test(
        "Addresses in text lead where they say",
        arguments: [
            ("see https://a.example/x_y_z.", "https://a.example/x_y_z", "https://a.example/x_y_z"),
            ("(www.a.example/b(c))", "www.a.example/b(c)", "http://www.a.example/b(c)"),
            ("<b>HTTP://a.example</b>", "HTTP://a.example", "HTTP://a.example"),
            ("mail me.you@a.example, please", "me.you@a.example", "mailto:me.you@a.example"),
            ("漢https://a.example", nil, nil), ("a@b", nil, nil), ("https://", nil, nil), ("www.a", nil, nil),
            ("`https://a.example`", nil, nil), ("[x https://b.example](c.md)", nil, nil),
        ] as [(String, String?, String?)])
    func bare(text: String, shown: String?, address: String?) {
        let runs = Markdown.render(text, width: nil, level: .ansi16, links: true).flatMap(\.runs)
        let link = runs.first { $0.style.link != nil }
        #expect(link?.text == shown)
        #expect(link?.style.link?.address == address)
    }

    @Test("A link is opened and closed around its text, on every line that it takes")
    func sequences() {
        let lines = Markdown.render("a [two words](https://a.example) b", width: 8, level: .ansi16, links: true)
        #expect(
            lines.map { $0.rendered(level: .ansi16, theme: Theme([:])) } == [
                "a \u{1B}]8;;https://a.example\u{1B}\\\u{1B}[4mtwo\u{1B}[0m\u{1B}]8;;\u{1B}\\",
                "\u{1B}]8;;https://a.example\u{1B}\\\u{1B}[4mwords\u{1B}[0m\u{1B}]8;;\u{1B}\\ b",
            ])
        #expect(
            Markdown.render("[a](https://b.example)", width: 80, level: .none, links: true)[0].plainText.contains(
                "b.example"))
    }

    @Test(
        "Only addresses that can be opened safely are targets",
        arguments: [
            ("https://a.example", "https://a.example"), ("HTTP://a", "HTTP://a"), ("mailto:a@b", "mailto:a@b"),
            ("https://a/\u{1B}]8;;\u{07}", "https://a/%1B]8;;%07"), ("https://a b\u{9B}", "https://a%20b%C2%9B"),
            ("ftp://a", nil), ("https:", nil), ("//a", nil), ("", nil), ("javascript:https:", nil),
            ("https://" + String(repeating: "a", count: 2_000), nil),
        ])
    func targets(address: String, expected: String?) {
        #expect(LinkTarget(address)?.address == expected)
    }

    @Test("Definitions are used wherever they are, and shown")
    func definitions() {
        let text = "See [a][One] and [two].\n\n[one]: https://one.example \"T\"\n[two]: <x y>\n\nEnd [one]."
        #expect(
            drawn(text, 80) == [
                "See a (https://one.example \"T\") and two (x y).", "", "[one]: https://one.example \"T\"",
                "[two]: x y", "",
                "End one (https://one.example \"T\").",
            ])
    }

    @Test("The first definition of a label applies, however the label is written")
    func labels() {
        let text = "[x][My  Label]\n\n[my label]: a.md\n\n[MY\nLABEL]: b.md\n\n[my label] [other] \\[my label]"
        #expect(
            drawn(text, 80) == [
                "x (a.md)", "", "[my label]: a.md", "", "[my label]: b.md", "", "my label (a.md) [other] [my label]",
            ])
    }

    @Test("A long definition is not repeated at each of its references")
    func longDefinition() {
        let address = "https://a.example/" + String(repeating: "x", count: 900)
        let text = String(repeating: "[a] ", count: 1_000) + "\n\n[a]: \(address)\n\n[a]"
        for links in [false, true] {
            let lines = Markdown.render(text, width: nil, level: .ansi16, links: links)
            #expect(lines.contains { $0.plainText == "[a]: " + address })
            #expect(lines.first?.plainText.hasPrefix("a (https://a.example/xxxxx") == true)
            #expect(lines.map { $0.rendered(level: .ansi16).utf8.count }.reduce(0, +) < 100_000)
        }
    }

    @Test("A definition keeps its special characters for other blocks")
    func escapes() {
        let definition = LinkDefinition(label: "a\\]b", address: "x<>\\&amp;", title: "say \"\\&lt;\"")
        #expect(LinkDefinition.all(in: Array(definition.source.utf8)) == [definition])
    }
}
