import Capabilities
import CoreTesting
import FileKit
import HostKit
import HostTesting
import JSON
import Testing

@Suite("Data actions")
struct DataActionsTests {
    private func withStores(_ body: (inout TestWorkbench) async throws -> Void) async throws {
        try await withBench(StoreFeature.self) { bench in
            bench.options.settings = ["store.folder=\(bench.home)/kept"]
            try bench.write("one two", to: "\(bench.home)/kept/first")
            try bench.write("three", to: "\(bench.home)/kept/second")
            try await body(&bench)
        }
    }

    @Test("All stores are listed, including those without data") func list() async throws {
        try await withStores { bench in
            try Files.remove("\(bench.home)/kept/second")
            let rows = try await bench.perform("data.list").json
            #expect(rows[0]?["id"] == "store.first")
            #expect(rows[0]?["size"] == 7)
            #expect(rows[1]?["id"] == "store.second")
            #expect(rows[1]?["size"] == nil)
        }
    }

    @Test("Damage found by the check exits with 1") func check() async throws {
        try await withStores { bench in
            let sound = try await bench.perform("data.check")
            #expect(sound.exit == .done)
            #expect(sound.json[1] == ["store": "store.second", "state": "ok", "damage": []])
            try bench.write("damage", to: "\(bench.home)/kept/first")
            let damaged = try await bench.perform("data.check", ["stores": ["store.first"]])
            #expect(damaged.exit == .failed)
            #expect(damaged.json == [["store": "store.first", "state": "damaged", "damage": ["a damaged word"]]])
            #expect(bench.output.progress.contains { $0.activity.contains("store.first") })
        }
    }

    @Test("A backup is written to a new folder and restored from it, if the person agrees") func backupAndRestore()
        async throws
    {
        try await withStores { bench in
            let folder = "\(bench.home)/saved"
            try await bench.perform("data.backup", ["folder": .string(folder)])
            try bench.write("other", to: "\(bench.home)/kept/first")

            let unasked = await failure { try await bench.perform("data.restore", ["folder": .string(folder)]) }
            #expect(unasked?.exit == .unanswered)
            #expect(unasked?.message.contains("with the copies in \(folder). Continue?") == true)
            let absent = await failure { try await bench.perform("data.restore", ["folder": "/nonexistent"]) }
            #expect(absent?.code == "host.no-file")
            bench.person = HeadlessInteraction(answers: ["confirm.data.restore": false])
            let declined = await failure { try await bench.perform("data.restore", ["folder": .string(folder)]) }
            #expect(declined?.code == "interaction.declined")
            #expect(try bench.read("\(bench.home)/kept/first") == "other")

            bench.person = HeadlessInteraction(answers: ["confirm.data.restore": true])
            let rows = try await bench.perform("data.restore", ["folder": .string(folder)]).json
            #expect(rows.array?.count == 2)
            #expect(try bench.read("\(bench.home)/kept/first") == "one two")
        }
    }

    @Test("A backup never overwrites an older one") func notEmpty() async throws {
        try await withStores { bench in
            try bench.write("precious", to: "\(bench.home)/saved/store.first.backup")
            let problem = await failure {
                try await bench.perform("data.backup", ["folder": .string(bench.home + "/saved")])
            }
            #expect(problem?.message.contains("is not empty") == true)
            #expect(try bench.read("\(bench.home)/saved/store.first.backup") == "precious")
        }
    }

    @Test("A restore without a backup is refused") func noCopy() async throws {
        try await withStores { bench in
            try bench.write("x", to: "\(bench.home)/saved/store.first.backup")
            for arguments: JSONObject in [
                ["folder": .string(bench.home + "/nowhere")],
                ["folder": .string(bench.home + "/saved"), "stores": ["store.first", "store.second"]],
            ] {
                let problem = await failure { try await bench.perform("data.restore", arguments, isAgreed: true) }
                #expect(problem?.code == "host.no-file")
            }
            #expect(try bench.read("\(bench.home)/kept/first") == "one two")
        }
    }

    @Test("A restore replaces nothing if one of the copies cannot be used") func badCopy() async throws {
        try await withStores { bench in
            let folder = "\(bench.home)/saved"
            try await bench.perform("data.backup", ["folder": .string(folder)])
            try bench.write("newest", to: "\(bench.home)/kept/first")
            try bench.write("", to: "\(folder)/store.second.backup")
            let problem = await failure {
                try await bench.perform("data.restore", ["folder": .string(folder)], isAgreed: true)
            }
            #expect(problem?.message.hasPrefix("nothing was replaced") == true)
            #expect(problem?.message.contains("store.second: \(folder)/store.second.backup is empty") == true)
            #expect(try bench.read("\(bench.home)/kept/first") == "newest")
            #expect(!Files.exists("\(bench.home)/.local/share/martlet"))
        }
    }

    @Test("A restore keeps the previous data, which can be restored too") func kept() async throws {
        try await withStores { bench in
            let folder = "\(bench.home)/saved"
            try await bench.perform("data.backup", ["folder": .string(folder)])
            try bench.write("newest", to: "\(bench.home)/kept/first")
            try await bench.perform("data.restore", ["folder": .string(folder)], isAgreed: true)
            #expect(try bench.read("\(bench.home)/kept/first") == "one two")
            let data = "\(bench.home)/.local/share/martlet"
            let kept = try #require(try Files.list(data).map(\.name).first { $0.hasPrefix("replaced-") })
            #expect(bench.output.notices == ["the previous data is kept in \(data)/\(kept)"])
            try await bench.perform("data.restore", ["folder": .string("\(data)/\(kept)")], isAgreed: true)
            #expect(try bench.read("\(bench.home)/kept/first") == "newest")
        }
    }

    @Test("A restore while the data is in use reports the user") func inUse() async throws {
        try await withStores { bench in
            let folder = "\(bench.home)/saved"
            try await bench.perform("data.backup", ["folder": .string(folder)])
            try bench.write("", to: "\(bench.home)/kept/second.user")
            try await bench.perform(
                "data.restore", ["folder": .string(folder), "stores": ["store.first"]], isAgreed: true)
            #expect(bench.output.notices.first?.hasPrefix("the user of store.second may still use") == true)
        }
    }

    @Test("A store that commands refuse to open is named, and the others are still checked") func refused()
        async throws
    {
        try await withStores { bench in
            try bench.write("newer", to: "\(bench.home)/kept/first")
            let checked = try await bench.perform("data.check")
            #expect(checked.exit == .failed)
            #expect(checked.json[0] == ["store": "store.first", "state": "refused", "damage": ["it is newer"]])
            #expect(checked.json[1]?["state"] == "ok")
        }
    }

    @Test("Data that was set aside is named by list, check and doctor") func setAside() async throws {
        try await withStores { bench in
            let sound = try await bench.perform("doctor").json.array?.first { $0["id"] == "host.data" }
            #expect(sound?["state"] == "ok")
            let old = "\(bench.home)/kept/first.damaged-1"
            try bench.write("noise", to: old)
            #expect(try await bench.perform("data.list").json[0]?["set-aside"] == [.string(old)])
            #expect(try await bench.perform("data.list").json[1]?["set-aside"] == nil)
            #expect(try await bench.perform("data.check").json[0]?["set-aside"] == [.string(old)])
            let told = try await bench.perform("doctor").json.array?.first { $0["id"] == "host.data" }
            #expect(told?["state"] == "warning")
            #expect(told?["found"]?.string?.contains(old) == true)
        }
    }

    @Test("Compacting frees unused space") func compact() async throws {
        try await withStores { bench in
            let rows = try await bench.perform("data.compact").json
            #expect(rows == [["store": "store.first", "freed": 1], ["store": "store.second", "freed": 0]])
        }
    }

    @Test("A purge removes deleted data and old copies, if the person agrees") func purge() async throws {
        try await withStores { bench in
            let (first, data) = ("\(bench.home)/kept/first", "\(bench.home)/.local/share/martlet")
            try bench.write("one (two) three", to: first)
            try bench.write("noise", to: "\(first).damaged-1")
            let copy = "\(data)/replaced-20261101T000000Z/store.first.backup"
            try bench.write("old", to: copy)
            let asked = await failure { try await bench.perform("data.purge", ["stores": ["store.first"]]) }
            #expect(asked?.message.contains("deleted data of store.first, and 2 old copies. Continue?") == true)
            #expect(try bench.read(first) == "one (two) three" && Files.exists(copy))
            let rows = try await bench.perform("data.purge", ["stores": ["store.first"]], isAgreed: true).json
            #expect(
                rows == [
                    [
                        "store": "store.first", "removed": 1, "freed": 5,
                        "copies": [.string("\(first).damaged-1"), .string(copy)],
                    ]
                ])
            #expect(try bench.read(first) == "one  three" && !Files.exists("\(data)/replaced-20261101T000000Z"))
            #expect(bench.output.notices.last?.contains("may still contain it") == true)
        }
    }

    @Test("A purge is refused while one of the stores is in use") func purgeInUse() async throws {
        try await withStores { bench in
            try bench.write("one (two)", to: "\(bench.home)/kept/first")
            try bench.write("", to: "\(bench.home)/kept/second.user")
            let problem = await failure { try await bench.perform("data.purge", isAgreed: true) }
            #expect(problem?.message.hasPrefix("nothing was purged") == true)
            #expect(problem?.message.contains("store.second: the user of store.second") == true)
            #expect(try bench.read("\(bench.home)/kept/first") == "one (two)")
        }
    }

    @Test("An unknown store is refused with the nearest name") func unknown() async throws {
        try await withStores { bench in
            let problem = await failure { try await bench.perform("data.check", ["stores": ["store.frist"]]) }
            #expect(problem?.message.contains("did you mean 'store.first'?") == true)
            #expect(problem?.exit == .usage)
        }
    }
}
