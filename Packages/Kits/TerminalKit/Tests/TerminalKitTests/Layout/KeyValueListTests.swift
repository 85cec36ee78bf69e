import Testing

@testable import TerminalKit

@Suite struct KeyValueListTests {
    private func list() -> KeyValueList {
        var list = KeyValueList()
        list.append("Name", "web1")
        list.append("漢字漢字", "one two three")
        list.append("Empty", "")
        list.append("Lines", "first\n\nthird")
        return list
    }

    @Test("Values start in one column, and empty ones leave only the label")
    func aligned() {
        #expect(
            list().lines(width: nil).map(\.plainText) == [
                "Name      web1", "漢字漢字  one two three", "Empty", "Lines     first", "", "          third",
            ])
    }

    @Test("Long values continue in the next line, aligned with themselves")
    func wrapped() {
        let lines = list().lines(width: 20).map(\.plainText)
        #expect(lines[1...2] == ["漢字漢字  one two", "          three"])
    }

    @Test("A list without entries has no lines")
    func empty() {
        #expect(KeyValueList().lines(width: 80).isEmpty)
    }
}
