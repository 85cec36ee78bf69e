public import Capabilities

/// Merges pieces of text that came together, so that whoever shows or stores them has less to do.
public enum EventCoalescer {
    /// The same events in the same order, with neighbouring pieces of one kind as one and without empty ones. Of
    /// neighbouring counts of usage only the last says anything.
    public static func coalesce(_ events: [ChatEvent]) -> [ChatEvent] {
        guard events.count > 1 else { return events.filter { Piece($0)?.text.isEmpty != true } }
        var merged: [ChatEvent] = []
        merged.reserveCapacity(events.count)
        var open: Piece?
        for event in events {
            if let piece = Piece(event) {
                if piece.text.isEmpty { continue }
                if open?.kind == piece.kind {
                    open?.text += piece.text
                } else {
                    if let open { merged.append(open.event) }
                    open = piece
                }
                continue
            }
            if let ended = open {
                merged.append(ended.event)
                open = nil
            }
            if case .usage = event, case .usage? = merged.last { merged.removeLast() }
            merged.append(event)
        }
        if let open { merged.append(open.event) }
        return merged
    }

    /// Text that more of its kind may be added to.
    private struct Piece {
        enum Kind { case text, reasoning, refusal }

        let kind: Kind
        var text: String

        init?(_ event: ChatEvent) {
            switch event {
            case .text(let text): (kind, self.text) = (.text, text)
            case .reasoning(let text): (kind, self.text) = (.reasoning, text)
            case .refusal(let text): (kind, self.text) = (.refusal, text)
            default: return nil
            }
        }

        var event: ChatEvent {
            switch kind {
            case .text: .text(text)
            case .reasoning: .reasoning(text)
            case .refusal: .refusal(text)
            }
        }
    }
}
