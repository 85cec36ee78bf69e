import Capabilities

/// Paths that lead, or seem to lead, out of a folder to a file named `secret`.
///
/// The folder contains a folder `in`, and links: `out` to the folder with the secret, `in/out` to it by `..`, `chain`
/// to it by two more links, `file` to the secret itself, `root` to `/`, `loop` to itself.
struct WaysOut {
    let paths: [String]
    /// Paths to the machine's own files. Tests only read them, so that a failing test does no harm.
    let systemPaths = [
        "/etc/passwd", "//etc//passwd", String(repeating: "../", count: 60) + "etc/passwd", "root/etc/passwd",
    ]

    /// - Parameter outside: The folder with the secret, the parent of the folder to escape from.
    init(outside: String) {
        let climbs = [
            "..", "./..", "in/../..", "in/./../..", ".//..", "in//..//..", "in/../in/../..", "../work/..", "...",
            "....",
            ". .", ".. ", " ..", "..\t", "..\n", "..\r\n", "..\u{0}", "\u{0}..", "..\\", "..\\..", "..;", "..%00",
            "%2e%2e",
            "%2e.", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%uff0e%uff0e", "\u{FF0E}\u{FF0E}", "\u{2024}\u{2024}",
            "\u{2025}", "..\u{200B}", ".\u{200B}.", ".\u{AD}.", "\u{FEFF}..", "..\u{202E}", "%2e%2e%2f..", "..%2f",
            "..%5c",
            "..\u{2215}", "..\u{2044}", "..\u{FF0F}", "~", "~root", "~/..", "$HOME/..", "${PWD}/..", "$(pwd)/..",
            "`pwd`/..",
            "{..,in}", "[.][.]", "\u{3F}\u{3F}", "*", "**", "-", "--", "file://..", "file:..",
        ]
        let links = [
            "out", "in/out", "in/../out", "chain", "out/.", "out//", "./out", "in/../in/out", "out/../outside",
        ]
        let whole = [
            outside, "/\(outside)", "//\(outside)/", "/.\(outside)", "/proc/self/root\(outside)", "/proc/self/cwd/..",
            "/proc/1/root\(outside)", "/dev/fd/../../..\(outside)", "root\(outside)", "root/proc/self/root\(outside)",
            "file://\(outside)", "file://localhost\(outside)", "\\\\localhost\(outside)", "C:\(outside)",
        ]
        var paths: [String] = []
        for way in climbs + links + whole { paths += ["\(way)/secret", "\(way)/./secret"] }
        paths += ["file", "./file", "in/../file", "chain-file", "loop", "loop/secret"]
        paths += ["in\u{0}/../../secret", "in/a\u{0}", "../secret\u{0}.txt", ".", "..", "", " "]
        paths += ["in/a/../../../secret", "../../outside/secret", "in/../../../outside/secret"]
        for (part, count, end) in [
            ("a/../", 700, "../secret"), ("in/../", 200, "../secret"),
        ] {
            paths.append(String(repeating: part, count: count) + end)
        }
        paths.append(String(repeating: "x", count: 5000))
        self.paths = paths
    }
}

extension String {
    /// Every byte escaped, which normal clients do not do.
    var escaped: String {
        PercentEncoding.encode(self) { _ in false }
    }

    /// Every byte escaped except the slashes.
    var escapedParts: String {
        split(separator: "/", omittingEmptySubsequences: false).map { String($0).escaped }.joined(separator: "/")
    }
}
