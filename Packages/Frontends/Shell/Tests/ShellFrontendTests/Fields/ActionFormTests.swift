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
    ) -> ActionForm { ActionForm(.action("x.y"), title: "Do it", parameters, values: values, only: names) }

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
            parameter("level", .choice((0..<20).map { "word\($0)" })), parameter("key", .secret),
        ])
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
