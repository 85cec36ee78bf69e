import Capabilities
import CoreTesting
import JSON
import Testing

@testable import FileKit

@Suite("Folder record")
struct FolderRecordTests {
    private let allow: JSON = ["verdict": "allow", "tool": "saw"]
    private let deny: JSON = ["verdict": "deny", "tool": "dry"]

    private func run(_ body: (_ file: FolderRecordFile, _ folder: String) async throws -> Void) async throws {
        try await TemporaryDirectory.run { root in
            try Files.makeDirectories("\(root)/work")
            try await body(FolderRecordFile("\(root)/state/folders.json"), "\(root)/work")
        }
    }

    @Test("A record applies to its folder only, under any spelling of its path")
    func kept() async throws {
        try await run { file, folder in
            try await file.change("\(folder)/../work/.") { ($0.mode, $0.rules) = (.workspace, [allow]) }
            let record = try file.record(of: folder)
            #expect((record.mode, record.rules, record.isReplaced) == (.workspace, [allow], false))
            try Files.makeDirectories("\(folder)/beneath")
            #expect(try file.record(of: "\(folder)/beneath").isEmpty)
        }
    }

    @Test("A record is dropped when its folder is replaced, but its denying and unknown rules are kept")
    func replaced() async throws {
        try await run { file, folder in
            let odd: JSON = ["verdict": "perhaps"]
            try await file.change(folder) { ($0.mode, $0.rules) = (.full, [allow, deny, odd]) }
            try Files.rename(folder, toNew: "\(folder)-before")
            #expect(throws: FileError.self) { try file.record(of: folder) }
            try Files.makeDirectories(folder)
            let record = try file.record(of: folder)
            #expect((record.mode, record.rules, record.isReplaced) == (nil, [deny, odd], true))
            #expect(try file.record(of: "\(folder)-before").isEmpty, "a record is for a path, too")
            // The new decision is about the present folder, and does not apply to the old folder when it returns.
            try await file.change(folder) { $0.mode = .readOnly }
            #expect(try file.record(of: folder).isReplaced == false)
            try Files.rename(folder, toNew: "\(folder)-second")
            try Files.rename("\(folder)-before", toNew: folder)
            #expect(try file.record(of: folder).mode == nil)
        }
    }

    @Test("An empty record is removed")
    func empty() async throws {
        try await run { file, folder in
            try await file.change(folder) { $0.rules = [allow] }
            try await file.change(folder) { $0.rules = [] }
            #expect(try JSON(parsing: Files.read(file.files[0], limit: 1 << 20)) == [:])
        }
    }

    @Test("Concurrent changes to a record are not lost")
    func together() async throws {
        try await run { file, folder in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try await file.change(folder) { $0.rules.append(.int(number)) } }
                }
                try await group.waitForAll()
            }
            #expect(Set(try file.record(of: folder).rules.compactMap(\.int)) == Set(0..<20))
        }
    }

    @Test(
        "A damaged record is an error that names the file, and is not overwritten",
        arguments: ["{", "[]", #"{"/a": {"device": 1}}"#, #"{"/a": {"device": 1, "inode": 1, "mode": "all"}}"#])
    func damaged(text: String) async throws {
        try await run { file, folder in
            try await file.change(folder) { $0.rules = [deny] }
            try Files.writeAtomically(Array(text.utf8), to: file.files[0])
            let error = #expect(throws: FileError.self) { try file.record(of: folder) }
            #expect(error?.message.contains("folders.json") == true)
            await #expect(throws: FileError.self) { try await file.change(folder) { $0.mode = .full } }
            #expect(try Files.read(file.files[0], limit: 1 << 20) == Array(text.utf8))
        }
    }

    @Test("A record that would be too large to read again is not written")
    func bounded() async throws {
        try await run { file, folder in
            try await file.change(folder) { $0.rules = [deny] }
            let long = JSON.string(String(repeating: "x", count: FolderRecordFile.largestFile))
            await #expect(throws: FileError.self) { try await file.change(folder) { $0.rules.append(long) } }
            #expect(try file.record(of: folder).rules == [deny])
        }
    }

    @Test("The rules of a record are listed and removed one by one")
    func listed() async throws {
        try await run { file, folder in
            try await file.change(folder) { ($0.mode, $0.rules) = (.workspace, [allow, deny]) }
            let keepers: [any RuleKeeper] = [file]
            let rules = try await keepers.keptRules(in: [folder, "\(folder)/."])
            #expect(rules.map(\.rule) == [["mode": "workspace"], allow, deny])
            #expect(Set(rules.map(\.id)).count == 3)
            #expect(try await keepers.remove(ruleNamed: "", in: [folder]) == nil)
            #expect(try await keepers.remove(ruleNamed: rules[1].id, in: [folder])?.rule == allow)
            #expect(try await keepers.remove(ruleNamed: rules[1].id, in: [folder]) == nil)
            #expect(try await keepers.remove(ruleNamed: rules[0].id, in: [folder]) != nil)
            let left = try file.record(of: folder)
            #expect((left.mode, left.rules) == (nil, [deny]))
        }
    }
}
