/// What the actions of a run may reach, as the bundle says it. Outside of runs there are none, and nothing is refused.
///
/// A bundle that another one runs has its own, and those around it count as well.
public struct RunPermissions: Sendable, Hashable {
    /// Those of the run that the present task belongs to.
    @TaskLocal public static var current: RunPermissions?

    /// Patterns for servers, as `*.example.com` or `localhost:8080`; each list has to have one that fits.
    public var hosts: [[String]]
    /// Patterns for the tools that models may use without being asked, as `source/tool`; each list has to have one that fits.
    public var tools: [[String]]

    public init(hosts: [[String]] = [], tools: [[String]] = []) {
        self.hosts = hosts
        self.tools = tools
    }

    /// Whether a server may be spoken to. A pattern without a port means all of them.
    public func allows(host: String, port: Int) -> Bool {
        let name = host.contains(":") ? "[\(host)]" : host
        return hosts.allSatisfy { list in
            list.contains { pattern in
                Self.fits(pattern.lowercased(), host) || Self.fits(pattern.lowercased(), "\(name):\(port)")
                    || Self.fits(pattern.lowercased(), name)
            }
        }
    }

    /// Whether a model may use a tool without anybody being asked.
    public func allows(tool: String, of source: String) -> Bool {
        !tools.isEmpty && tools.allSatisfy { list in list.contains { Self.fits($0, "\(source)/\(tool)") } }
    }

    /// Whether a text fits a pattern in which `*` stands for anything.
    static func fits(_ pattern: String, _ text: String) -> Bool {
        let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
        var (place, next) = (0, 0)
        // Where the last star stands, and what it has taken so far: it takes more only when nothing else helps.
        var star: (place: Int, taken: Int)?
        while next < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, next)
                place += 1
            } else if place < pattern.count, pattern[place] == text[next] {
                place += 1
                next += 1
            } else if let (before, taken) = star {
                star = (before, taken + 1)
                (place, next) = (before + 1, taken + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
