import Capabilities
import Foundation
import ModelKit
import Testing

@Suite("Translation table")
struct TranslationTableTests {
    @Test("The README contains the current table")
    func documented() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: package.appending(path: "README.md"), encoding: .utf8)
        #expect(text.contains(TranslationTable.markdown))
    }

    @Test("Every member has one rule, with a fate in both other dialects")
    func complete() {
        var seen: Set<String> = []
        for rule in TranslationTable.rules {
            #expect(seen.insert("\(rule.dialect) \(rule.member)").inserted)
            #expect(Set(rule.fates.keys) == Set(RequestDialect.allCases).subtracting([rule.dialect]))
        }
    }

    @Test("Unknown members pass within one dialect only")
    func unknown() {
        #expect(TranslationTable.fate(of: "colour", from: .openai, to: .openai) == .translated)
        #expect(TranslationTable.fate(of: "colour", from: .openai, to: .anthropic) == .dropped)
    }
}
