import Capabilities
import JSON
import Registry
import TerminalKit
import Testing

@testable import ShellFrontend

@Suite struct ActionFormTests {
    private func parameter(
        _ name: String, _ schema: Schema, isRequired: Bool = false, default value: JSON? = nil, secret: Bool = false
    ) -> ParameterDeclaration {
        ParameterDeclaration(
            Schema.Property(name, "The \(name)", schema, defaultValue: value), form: secret ? .secret : .option,
            isRequired: isRequired)
    }

    private func form(
        _ parameters: [ParameterDeclaration], values: JSONObject = [:], only names: [String]? = nil
    ) -> ActionForm { ActionForm(title: "Do it", parameters, values: values, only: names) }

    private var target: ActionForm.Target { .action("x.y") }

    private func type(_ text: String, _ form: inout ActionForm) {
        for scalar in text.unicodeScalars { _ = form.receive(.key(KeyPress(.character(scalar)))) }
    }

    private func press(_ key: Key, _ form: inout ActionForm, count: Int = 1) {
        for _ in 0..<count { _ = form.receive(.key(KeyPress(key))) }
    }

    /// Goes to the button and presses it; nil if there are problems.
    private func submit(_ form: inout ActionForm) -> JSONObject? {
        while !form.isButtonSelected { press(.down, &form) }
        if case .submitted(let values) = form.receive(.key(KeyPress(.enter))) { return values }
        return nil
    }

    private func rows(_ form: ActionForm, columns: Int = 60) -> [String] {
        form.rows(columns: columns).rows.map(\.plainText)
    }

    @Test("What is required comes first, and what is missing is selected")
    func order() {
        var form = form(
            [
                parameter("note", .string), parameter("id", .string, isRequired: true),
                parameter("to", .string, isRequired: true),
            ],
            values: ["id": "7"])
        #expect(form.fields.map(\.declaration.name) == ["id", "to", "note"] && form.selected == 1)
        #expect(rows(form).filter { $0.contains(" *") }.count == 2)
        type("me", &form)
        #expect(submit(&form) == ["id": "7", "to": "me"])
    }

    @Test("Without a required one, the first word of a command line is selected, and else the button")
    func optional() {
        let file = ParameterDeclaration(
            Schema.Property("file", "The file", .string), form: .positional, isRequired: false)
        let flag = parameter("quick", .boolean)
        #expect(form([flag, file]).selected == 1)
        #expect(form([flag, file], values: ["file": "a"]).isButtonSelected && form([flag]).isButtonSelected)
    }

    @Test("A text is given as it was typed, also with more than one line")
    func text() {
        var form = form([parameter("text", .string, isRequired: true)])
        type("two words", &form)
        _ = form.receive(.key(KeyPress(.enter, .alt)))
        type("more", &form)
        #expect(submit(&form) == ["text": "two words\nmore"])
    }

    @Test("A missing text is a problem beside its field, and goes when something is typed")
    func missing() {
        var form = form([parameter("text", .string, isRequired: true), parameter("other", .string)])
        #expect(submit(&form) == nil && form.selected == 0 && form.fields[0].problem == "is needed")
        let rows = rows(form)
        #expect(rows.firstIndex { $0.contains("▲ is needed") } == 2)
        type("x", &form)
        #expect(form.fields[0].problem == nil && submit(&form) == ["text": "x"])
    }

    @Test("A number is a number, and anything else a problem")
    func number() {
        var form = form([parameter("count", .integer(1...9)), parameter("share", .number(nil))])
        form.selectFirst()
        type("x", &form)
        #expect(submit(&form) == nil && form.fields[0].problem?.isEmpty == false && form.selected == 0)
        press(.backspace, &form)
        type("99", &form)
        #expect(submit(&form) == nil)
        press(.backspace, &form)
        press(.down, &form)
        type("0.5", &form)
        #expect(submit(&form) == ["count": 9, "share": 0.5])
    }

    @Test("A list is its words, and a list with spaces in a word is written as JSON")
    func list() {
        var form = form([parameter("names", .array(.string))])
        form.selectFirst()
        type("a b  c", &form)
        #expect(submit(&form) == ["names": ["a", "b", "c"]])
        for value in [JSON.array(["a b", "c"]), .array(["[x"]), .array([""]), .array(["a", "b"])] {
            var form = self.form([parameter("names", .array(.string))], values: ["names": value])
            #expect(submit(&form) == ["names": value])
        }
        var numbers = self.form([parameter("numbers", .array(.integer(nil)))])
        numbers.selectFirst()
        type("1 x", &numbers)
        #expect(submit(&numbers) == nil && numbers.fields[0].problem != nil)
    }

    @Test("A flag is given if it is not what it is without being given")
    func flag() {
        var form = form([parameter("force", .boolean)])
        form.selectFirst()
        #expect(rows(form)[1].contains("[ ] no"))
        #expect(submit(&form) == [:])
        press(.up, &form)
        press(.character(" "), &form)
        #expect(rows(form)[1].contains("[x] yes") && submit(&form) == ["force": true])
        var on = self.form([parameter("wait", .boolean, default: true)])
        on.selectFirst()
        press(.right, &on)
        #expect(submit(&on) == ["wait": false])
        var needed = self.form([parameter("agree", .boolean, isRequired: true)])
        #expect(submit(&needed) == ["agree": false])
    }

    @Test("A choice goes round its words, and one that may be missing has none as well")
    func choice() {
        let words = Schema.choice(["low", "high"])
        var form = form([parameter("level", words)])
        form.selectFirst()
        #expect(submit(&form) == [:])
        press(.up, &form)
        press(.right, &form)
        #expect(rows(form)[1].contains("(•) low") && submit(&form) == ["level": "low"])
        press(.up, &form)
        press(.left, &form)
        #expect(submit(&form) == [:])
        var needed = self.form([parameter("level", words, isRequired: true)], values: ["level": "high"])
        needed.selectFirst()
        press(.character(" "), &needed)
        #expect(submit(&needed) == ["level": "low"])
        var empty = self.form([parameter("level", words, isRequired: true)])
        #expect(submit(&empty) == nil && empty.fields[0].problem == "is needed")
    }

    @Test("A secret is never drawn, nor its length, nor a message that may quote it")
    func secret() {
        for parameter in [
            parameter("key", .secret, isRequired: true), parameter("key", .string, isRequired: true, secret: true),
        ] {
            var form = form([parameter])
            type("hunter2", &form)
            let first = rows(form)
            #expect(first.allSatisfy { !$0.contains("hunter") } && first[1].contains("••••••••"))
            type(" and more", &form)
            #expect(rows(form) == first)
            form.blame([ValueError("is not valid: 'hunter2 and more'", at: ["key"])])
            #expect(rows(form).allSatisfy { !$0.contains("hunter") } && rows(form).contains { $0.contains("▲") })
            #expect(submit(&form) == ["key": "hunter2 and more"])
        }
    }

    @Test("Values that cannot be changed are given with the others")
    func fixed() {
        var form = form(
            [parameter("id", .string, isRequired: true), parameter("text", .string, isRequired: true)],
            values: ["id": "7", "text": "old"], only: ["text"])
        #expect(form.fields.map(\.declaration.name) == ["text"])
        form.selectFirst()
        press(.backspace, &form, count: 3)
        type("new", &form)
        #expect(submit(&form) == ["id": "7", "text": "new"])
    }

    @Test("A value that was there can be taken away")
    func cleared() {
        var form = form([parameter("note", .string)], values: ["note": "x"])
        form.selectFirst()
        press(.backspace, &form)
        #expect(submit(&form) == [:])
    }

    @Test("What the action finds wrong is shown beside its field, the first one selected")
    func blame() {
        var form = form([parameter("a", .string), parameter("b", .string), parameter("c", .string)])
        form.blame([
            ValueError("is wrong", at: ["c"]), ValueError("is too", at: ["b", "0"]), ValueError("no", at: ["z"]),
        ])
        #expect(form.selected == 1 && form.fields.map(\.problem) == [nil, "is too", "is wrong"])
        #expect(submit(&form) == [:] && form.fields.allSatisfy { $0.problem == nil })
    }

    private func completed(
        _ name: String, _ schema: Schema = .string, _ completion: Completion = .words([]), isRequired: Bool = false
    ) -> ParameterDeclaration {
        ParameterDeclaration(
            Schema.Property(name, "The \(name)", schema), form: .option, isRequired: isRequired, completion: completion)
    }

    /// Presses Tab; the word that is to be completed, or nil if it went on.
    private func tab(_ form: inout ActionForm) -> OpenWord? {
        if case .completing(let word) = form.receive(.key(KeyPress(.tab))) { word } else { nil }
    }

    @Test("Tab completes what is begun in a field that something completes, and goes on everywhere else")
    func completion() throws {
        var form = form([
            completed("a"), parameter("b", .string), completed("c"), parameter("d", .string, secret: true),
        ])
        form.selectFirst()
        #expect(tab(&form) == nil && form.selected == 1)
        type("x", &form)
        #expect(tab(&form) == nil && form.selected == 2)
        type("on", &form)
        let word = try #require(tab(&form) as OpenWord?)
        #expect(word.typed == "on" && form.selected == 2)
        #expect(form.request(word, for: target).given == ["b": "x"] && form.isCurrent(form.request(word, for: target)))
        // What several begin with is written, and they are named.
        #expect(form.take([match("one day"), match("one night")], for: word) == ["one day", "one night"])
        #expect(form.selected == 2 && rows(form).contains { $0.contains("› one") })
        let second = try #require(tab(&form) as OpenWord?)
        #expect(form.take([match("one day")], for: second).isEmpty && form.selected == 2)
        // It is written out now, or nothing is like it.
        let third = try #require(tab(&form) as OpenWord?)
        #expect(form.take([match("one day"), match("one day more")], for: third).isEmpty && form.selected == 3)
        type("s", &form)
        #expect(tab(&form) == nil && form.isButtonSelected)
        press(.up, &form, count: 2)
        type("!", &form)
        let last = try #require(tab(&form) as OpenWord?)
        #expect(form.take([], for: last).isEmpty && form.selected == 3)
        while !form.isButtonSelected { press(.down, &form) }
        #expect(submit(&form) == ["b": "x", "c": "one day!", "d": "s"])
    }

    @Test("A folder is gone into, and of a list the last word is completed")
    func paths() throws {
        var form = form([completed("files", .array(.path(.read)), .files), completed("folder", .path(.read), .files)])
        form.selectFirst()
        type("a ne", &form)
        let word = try #require(tab(&form) as OpenWord?)
        #expect(word.typed == "ne" && form.take([match("next/", isOpen: true)], for: word).isEmpty)
        type("f", &form)
        let file = try #require(tab(&form) as OpenWord?)
        #expect(file.typed == "next/f" && form.take([match("next/file")], for: file).isEmpty && form.selected == 0)
        press(.down, &form)
        type("two w", &form)
        let path = try #require(tab(&form) as OpenWord?)
        #expect(form.take([match("two words/", isOpen: true)], for: path).isEmpty && form.selected == 1)
        #expect(submit(&form) == ["files": ["a", "next/file"], "folder": "two words/"])
    }

    @Test("The words of a field are asked for when it is selected, and → goes through them")
    func nextWord() throws {
        var form = form([completed("a"), completed("b")], values: ["a": "on"])
        form.selectFirst()
        let wanted = form.wordsRequest(for: target)
        let request = try #require(wanted)
        #expect(request.isOnlyForWords && request.parameter == "a" && request.word.typed.isEmpty)
        #expect(form.wordsRequest(for: target) == nil && form.isCurrent(request))
        form.take(words: ["on", "off"])
        #expect(rows(form)[2].contains("on  off") && form.hints.map(\.key) == ["Tab", "→"])
        press(.right, &form)
        #expect(submit(&form) == ["a": "off"])
        form.selectFirst()
        press(.right, &form)
        #expect(rows(form)[1].contains("› on"))
        // Another text is only edited, and lists what it may become.
        press(.backspace, &form)
        #expect(rows(form)[2].contains("on  off"))
        press(.right, &form)
        type("x", &form)
        #expect(submit(&form) == ["a": "ox"] && form.fields[1].words.isEmpty)
        // The other value counts for the words of the next field.
        form.selectFirst()
        press(.down, &form)
        #expect(form.wordsRequest(for: target)?.given == ["a": "ox"])
    }

    private func match(_ text: String, isOpen: Bool = false) -> OpenWord.Match {
        OpenWord.Match(text: text, name: text, isOpen: isOpen)
    }

    @Test("Esc and Ctrl-C close the form, and a paste goes into the field")
    func keys() {
        var form = form([parameter("text", .string, isRequired: true)])
        _ = form.receive(.paste(Paste(text: "pasted")))
        #expect(submit(&form) == ["text": "pasted"])
        for press in [KeyPress(.escape), KeyPress(.character("c"), .ctrl)] {
            guard case .cancelled = form.receive(.key(press)) else {
                Issue.record("\(press) does not close")
                return
            }
        }
    }

    @Test("The caret is on the selected field, and no row is wider than the window", arguments: [1, 5, 12, 40, 100])
    func drawing(columns: Int) {
        var form = form([
            parameter("text", .string, isRequired: true, default: "a\nb"), parameter("force", .boolean),
            parameter("level", .choice((0..<20).map { "word\($0)" })), parameter("key", .secret), completed("name"),
        ])
        form.selectFirst()
        press(.down, &form, count: 4)
        form.take(words: (0..<40).map { "a long name \($0)" })
        form.selectFirst()
        form.blame([ValueError(String(repeating: "long ", count: 40), at: ["force"])])
        for _ in 0...form.fields.count {
            let (rows, selected, caret) = form.rows(columns: columns)
            #expect(rows.allSatisfy { $0.width <= max(0, columns) && !$0.plainText.contains(where: \.isNewline) })
            #expect(rows.indices.contains(selected) && rows.indices.contains(caret.row) && caret.row >= selected)
            press(.tab, &form)
        }
        #expect(form.isButtonSelected)
    }
}

extension ActionForm {
    /// Goes to the first field.
    fileprivate mutating func selectFirst() { while selected > 0 { _ = receive(.key(KeyPress(.up))) } }
}
