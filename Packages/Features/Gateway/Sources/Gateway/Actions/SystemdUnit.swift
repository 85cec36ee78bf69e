import Capabilities

/// Which file of the two.
enum UnitPart: String, Choice { case service, socket }

/// The files with which systemd runs the gateway for a user.
struct SystemdUnit {
    let program: String
    let address: String
    let port: Int

    var service: String {
        """
        [Unit]
        Description=Martlet gateway

        [Service]
        Type=exec
        ExecStart=\(quoted(program)) gateway serve
        # Interrupted, it finishes what it is answering.
        TimeoutStopSec=20
        SuccessExitStatus=143
        Restart=on-failure
        NoNewPrivileges=yes

        [Install]
        WantedBy=default.target

        """
    }

    var socket: String {
        """
        [Unit]
        Description=Martlet gateway

        [Socket]
        ListenStream=\(address.contains(":") ? "[\(address)]" : address):\(port)

        [Install]
        WantedBy=sockets.target

        """
    }

    /// A program's own name may have few characters there (systemd.service(5)); any other is left to `env`, as an
    /// argument, in which `%` begins a specifier and `$` a variable.
    private func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._+-".utf8.contains(byte)
            }
        }
        if isPlain { return path }
        var text = ""
        for character in path {
            switch character {
            case "%": text += "%%"
            case "$": text += "$$"
            case "\\", "\"": text += "\\\(character)"
            default: text.append(character)
            }
        }
        return "/usr/bin/env \"\(text)\""
    }
}
