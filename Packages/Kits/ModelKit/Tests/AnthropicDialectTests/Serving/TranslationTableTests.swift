import Capabilities
import Foundation
import ModelKit
import Testing

@Suite("The table of what becomes of each member in another dialect")
struct TranslationTableTests {
    @Test("the README has the table as it is")
    func documented() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: package.appending(path: "README.md"), encoding: .utf8)
        #expect(text.contains(TranslationTable.markdown))
    }

    @Test("every member has one rule, with a fate in both other dialects")
    func complete() {
        var seen: Set<String> = []
        for rule in TranslationTable.rules {
            #expect(seen.insert("\(rule.dialect) \(rule.member)").inserted)
            #expect(Set(rule.fates.keys) == Set(RequestDialect.allCases).subtracting([rule.dialect]))
        }
    }

    @Test("unknown members pass within one dialect only")
    func unknown() {
        #expect(TranslationTable.fate(of: "colour", from: .openai, to: .openai) == .translated)
        #expect(TranslationTable.fate(of: "colour", from: .openai, to: .anthropic) == .dropped)
    }
}
