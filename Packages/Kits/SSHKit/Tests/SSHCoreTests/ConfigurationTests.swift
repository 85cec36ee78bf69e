import Capabilities
import CoreTesting
import FileKit
import Testing

@testable import SSHCore

struct ConfigurationTests {
    /// The settings as `ssh -G` prints them.
    private static func printed(_ settings: SSHSettings) -> [String: [String]] {
        func flag(_ value: Bool) -> String { value ? "yes" : "no" }
        func list(_ files: [String]) -> String { files.isEmpty ? "none" : files.joined(separator: " ") }
        let agent =
            switch settings.forwardedAgent {
            case .none: "no"
            case .standard: "yes"
            case .socket(let path): path
            }
        var lines: [String: [String?]] = [
            "user": [settings.user], "hostname": [settings.hostName], "port": ["\(settings.port)"],
            "addressfamily": [settings.addressFamily.rawValue], "identityfile": settings.identityFiles,
            "identitiesonly": [flag(settings.identitiesOnly)], "identityagent": [settings.identityAgent],
            "preferredauthentications": [settings.preferredAuthentications],
            "passwordauthentication": [flag(settings.passwordAuthentication)],
            "kbdinteractiveauthentication": [flag(settings.keyboardInteractiveAuthentication)],
            "pubkeyauthentication": [settings.publicKeyAuthentication.rawValue],
            "numberofpasswordprompts": ["\(settings.passwordPrompts)"], "batchmode": [flag(settings.isBatch)],
            "forwardagent": [agent], "userknownhostsfile": [list(settings.userKnownHostsFiles)],
            "globalknownhostsfile": [list(settings.globalKnownHostsFiles)],
            "stricthostkeychecking": [settings.strictHostKeyChecking.rawValue],
            "hashknownhosts": [flag(settings.hashesKnownHosts)], "hostkeyalias": [settings.hostKeyAlias],
            "checkhostip": [flag(settings.checksHostAddress)],
            "hostkeyalgorithms": [settings.hostKeyAlgorithms.joined(separator: ",")],
            "proxyjump": [settings.proxyJump],
            "proxycommand": [settings.proxyJump == nil ? settings.proxyCommand : nil],
            "connecttimeout": [settings.connectTimeout.map { "\($0)" } ?? "none"],
            "serveraliveinterval": ["\(settings.serverAliveInterval)"],
            "serveralivecountmax": ["\(settings.serverAliveCountMax)"], "compression": [flag(settings.compression)],
            "rekeylimit": ["\(settings.rekeyBytes) \(settings.rekeySeconds)"],
            "controlmaster": [settings.controlMaster.rawValue], "controlpath": [settings.controlPath],
            "loglevel": [settings.logLevel],
        ]
        lines["host"] = [settings.address.host]
        return lines.mapValues { $0.compactMap(\.self) }
    }

    /// The values of some keywords in what `ssh -G` prints.
    private static func values(of keywords: some Sequence<String>, in output: String) -> [String: [String]] {
        var values = Dictionary(uniqueKeysWithValues: keywords.map { ($0, [String]()) })
        for line in output.split(whereSeparator: \.isNewline) {
            let keyword = String(line.prefix { $0 != " " })
            var value = String(line.dropFirst(keyword.count + 1))
            // Debian's ssh has two names for this level.
            if keyword == "loglevel", value == "SILENT" { value = "QUIET" }
            values[keyword]?.append(value)
        }
        return values
    }

    /// Has ssh print the settings of a file for a host.
    static func command(_ file: String, _ host: String) throws -> [String] {
        guard !host.hasPrefix("ssh://") else { return ["ssh", "-G", "-F", file, host] }
        let address = try SSHAddress(host)
        let port = address.port.map { ["-p", "\($0)"] } ?? []
        return ["ssh", "-G", "-F", file] + port + [(address.user.map { "\($0)@" } ?? "") + address.host]
    }

    /// The difference between what ssh makes of a file for a host and what we make of it. Nil if there is none.
    static func difference(
        _ file: String, _ host: String, _ theirs: OpenSSH.Outcome, _ account: SSHAccount
    ) throws -> String? {
        let address = try SSHAddress(host)
        let settings: SSHSettings
        do throws(SSHError) { settings = try SSHConfig(file: file, of: account).settings(for: address) } catch {
            guard !theirs.isSuccess else { return "only we refuse it: \(error.message)" }
            guard error.kind == .configuration else { return "it has the code \(error.code)" }
            // Where we name a line, so does ssh.
            guard let line = error.message.firstMatch(of: #/line (\d+): /#)?.output.1 else { return nil }
            return theirs.text.contains("line \(line):") ? nil : "\(error.message), but \(theirs.text)"
        }
        var keywords: Set<String> = []
        if case .system(let reasons) = settings.decision { keywords = Set(reasons.map(\.keyword)) }
        guard theirs.isSuccess else {
            // ssh tells what it does not know.
            return keywords.contains { Keyword.named($0.lowercased()) == nil }
                ? nil : "only ssh refuses it: \(theirs.text)"
        }
        let ours = printed(settings)
        let expected = values(of: ours.keys, in: theirs.text)
        let different = ours.keys.filter { ours[$0] != expected[$0] }.sorted()
        guard !different.isEmpty else { return nil }
        return different.map { "\($0): ssh \(expected[$0] ?? []), we \(ours[$0] ?? [])" }.joined(separator: "\n")
    }

    @Test("The settings for a host are those that ssh -G prints, and damaged lines are the same")
    func agreesWithSSH() async throws {
        let ssh = try OpenSSH()
        try await TemporaryDirectory.run { folder in
            var questions: [(number: Int, host: String)] = []
            for (number, one) in ConfigurationCase.all.enumerated() {
                let place = "\(folder)/\(number)"
                try Files.makeDirectories(place)
                let files = one.files.mapValues { $0.replacing("FOLDER", with: place) }
                try write(files, into: place)
                try write(["config": one.text.replacing("FOLDER", with: place)], into: place)
                questions += one.hosts.map { (number, $0) }
            }
            #expect(ConfigurationCase.all.count >= 100)
            let outcomes = try await ssh.run(
                questions.map { try Self.command("\(folder)/\($0.number)/config", $0.host) })
            for ((number, host), outcome) in zip(questions, outcomes) {
                guard let difference = try Self.difference("\(folder)/\(number)/config", host, outcome, ssh.account)
                else { continue }
                Issue.record("\(host) with\n\(ConfigurationCase.all[number].text)\n\(difference)")
            }
        }
    }
}
