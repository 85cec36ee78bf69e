import Capabilities
import FileKit
import HostKit
import Registry
import Settings

/// Tells that settings of features which are not in this build are ignored: once for each feature, since builds share
/// settings files and a line at every command would be noise. `doctor` and `config validate` tell it always.
struct AbsentSettings {
    private let host: Host

    init(_ host: Host) {
        self.host = host
    }

    private var path: String { host.locations.state + "/absent-features" }

    func tell(by output: some ActionOutput) {
        let features = Set(host.settings.ignored.map(\.feature))
        guard !features.isEmpty else { return }
        do {
            let told = Files.exists(path) ? try Files.read(path, limit: 1 << 16) : []
            let before = Set(String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init))
            let new = features.subtracting(before).sorted()
            guard !new.isEmpty else { return }
            for feature in new { output.notice(host.absence(of: feature)) }
            guard !host.locations.state.isEmpty else { return }
            try Files.makeDirectories(host.locations.state)
            let all = before.union(new).sorted().map { $0 + "\n" }.joined()
            try Files.writeAtomically(Array(all.utf8), to: path, mode: 0o600)
        } catch {
            // What could not be noted is told again by the next command.
        }
    }
}
