/// A revision of the protocol, by its date.
public enum MCPVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    case november2024 = "2024-11-05"
    case march2025 = "2025-03-26"
    case june2025 = "2025-06-18"
    case november2025 = "2025-11-25"
    case july2026 = "2026-07-28"

    /// Whether there is no handshake: each request says everything, and the server sends no requests.
    public var isModern: Bool { self >= .july2026 }

    /// The newest revision that begins with a handshake.
    public static let newestLegacy = MCPVersion.november2025
    /// The newest revision.
    public static let newest = MCPVersion.july2026

    public static func < (left: MCPVersion, right: MCPVersion) -> Bool { left.rawValue < right.rawValue }
}
