import Capabilities
public import TerminalKit

/// How the word of a state looks: success, work in progress and problems differ. The words are the same without colour.
public struct StateLook: Sendable, Hashable {
    /// A sign beside the word, of one column.
    public let mark: String
    /// The style of the word and the sign.
    public let style: Style

    /// The look of a state. Words that features made up for themselves have the plainest one.
    public init(of state: String) {
        (mark, style) =
            switch state {
            case "ok", "done", "valid", "active", "trusted", "signed-in": ("✔", Style(.accent))
            case "starting", "running", "stopping", "answering": ("▶", Style(.ring))
            case "failed", "error", "damaged", "denied", "refused", "expired", "revoked":
                ("✘", Style(.error, bold: true))
            case "degraded", "warning", "expiring": ("▲", Style(.warning, bold: true))
            // Somebody wanted it, so it is no problem to look at.
            case "interrupted", "stopped", "cancelled": ("▲", Style(.mutedForeground))
            default: ("•", Style(.mutedForeground))
            }
    }
}
