/// Feeds any bytes to what this module reads. Nothing may crash, and what was read holds together.
@_spi(Fuzzing) public enum SSHFuzzTarget {
    /// A file of settings: it is refused with a line, or has settings for each host that it lists.
    public static func configuration(_ bytes: [UInt8]) {
        let account = SSHAccount(
            userID: 1_000, name: "me", home: "/home/me", machine: "here.example", environment: ["A": "b"])
        guard let config = try? SSHConfig(text: bytes, named: "fuzz", of: account) else { return }
        let count = bytes.split(separator: 10, omittingEmptySubsequences: false).count
        for host in config.hosts { precondition((1...count).contains(host.place.line), "a host is elsewhere") }
        for name in ["web", "127.1", "me@[::1]:2222"] + config.hosts.prefix(4).map(\.name) {
            guard let address = try? SSHAddress(name) else { continue }
            do throws(SSHError) {
                let settings = try config.settings(for: address)
                precondition((1...65_535).contains(settings.port) && !settings.hostName.isEmpty, "it leads nowhere")
                precondition(settings.user == address.user || address.user == nil, "the user is another one")
                let again = try config.settings(for: address)
                precondition(again == settings, "the settings are others the second time")
            } catch {
                precondition(!error.message.isEmpty, "nothing is wrong with what is refused")
            }
        }
    }

    /// A file of known hosts: however it is cut, the lines are the same, and a known key stays known.
    public static func knownHosts(_ bytes: [UInt8]) {
        let name = KnownHostName(host: "web", port: bytes.count % 2 == 0 ? 22 : 2222)
        guard let whole = entries([bytes], for: name), whole.lines.count < KnownHostsReader.mostLines else { return }
        let middle = bytes.count / 2
        let pieces = [Array(bytes[..<(middle / 2)]), Array(bytes[(middle / 2)..<middle]), Array(bytes[middle...])]
        precondition(entries(pieces, for: name)?.lines == whole.lines, "a cut changes the lines")
        for line in whole.lines {
            precondition((try? HostKey(blob: line.key.blob)) == line.key, "a key reads as another one")
            switch whole.verdict(on: line.key) {
            case .revoked: break
            case .known: precondition(line.marker != .revoked, "a revoked key is known")
            case .unknown, .otherTypes, .changed:
                precondition(line.marker == .authority || !line.hasPort, "a key of a line is not known")
            }
            let added = bytes + Array("\n\(name) \(line.key.text)\n".utf8)
            if case .revoked = whole.verdict(on: line.key) { continue }
            precondition(
                entries([added], for: name)?.verdict(on: line.key).isAccepted == true, "an added key is not known")
        }
    }

    private static func entries(_ pieces: [[UInt8]], for name: KnownHostName) -> KnownHostEntries? {
        var reader = KnownHostsReader("fuzz", for: name)
        do throws(SSHError) {
            for piece in pieces { try reader.read(piece) }
            try reader.finish()
        } catch {
            return nil
        }
        return KnownHostEntries(name: name, lines: reader.lines, problems: reader.problems)
    }

    /// An address: what is accepted reads as itself.
    public static func address(_ bytes: [UInt8]) {
        guard let address = try? SSHAddress(String(decoding: bytes, as: UTF8.self)) else { return }
        precondition((try? SSHAddress(address.description)) == address, "\(address) reads as another one")
    }
}
