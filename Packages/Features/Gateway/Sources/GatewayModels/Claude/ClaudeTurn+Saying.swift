import Capabilities
import JSON
import TurnLoop

extension ClaudeTurn {
    mutating func receive(piece event: JSON) -> [TurnEvent] {
        switch event["type"]?.string {
        case "message_start": return began(message: event["message"])
        case "content_block_start":
            settleBlock()
            let content = event["content_block"]
            switch content?["type"]?.string {
            case "text": block = Block()
            case "thinking": block = Block(isReasoning: true)
            case "tool_use":
                guard let id = content?["id"]?.string, let name = content?["name"]?.string else { return [] }
                return [.chat(.calling(id: id, name: name))]
            default: break
            }
            return []
        case "content_block_delta":
            guard let piece = event["delta"]?["text"]?.string ?? event["delta"]?["thinking"]?.string, !piece.isEmpty,
                let block, !block.isSettled
            else { return [] }
            self.block?.text += piece
            return [.chat(block.isReasoning ? .reasoning(piece) : .text(piece))]
        case "message_delta":
            // The frames of a message come before its end, and know only what was written until then.
            if let all = event["usage"]?["output_tokens"]?.int, !counted.isEmpty { count(written: all) }
            return []
        default: return []
        }
    }

    /// Counts a message once: all its frames have its id and the same usage. Its start comes before them, so that also a
    /// message that is cut off counts with what it has read.
    private mutating func began(message: JSON?) -> [TurnEvent] {
        guard let id = message?["id"]?.string, counted.insert(id).inserted else { return [] }
        rounds += 1
        let used = ClaudeResult.usage(message?["usage"]) ?? Usage()
        usage = usage + used
        usage.cost = estimate
        (written, open) = (used.outputTokens ?? 0, [])
        return [.round(rounds)]
    }

    private mutating func count(written all: Int) {
        guard (written..<1 << 40).contains(all) else { return }
        usage.outputTokens = (usage.outputTokens ?? 0) + all - written
        written = all
        usage.cost = estimate
    }

    mutating func receive(assistant frame: JSON) -> [TurnEvent] {
        guard let message = frame["message"] else { return [] }
        let content = message["content"]?.array ?? []
        // What the command itself says in the model's place is about a failure.
        if message["model"]?.string == "<synthetic>" || frame["error"]?.string != nil {
            serviceWords = content.compactMap { $0["text"]?.string }.first ?? serviceWords
            return []
        }
        var events = began(message: message)
        for content in content {
            switch content["type"]?.string {
            case "text": events += said(content["text"]?.string ?? "", isReasoning: false) { .text($0) }
            case "thinking":
                let signature = content["signature"]?.string
                events += said(content["thinking"]?.string ?? "", isReasoning: true) {
                    .reasoning(Reasoning($0, signature: signature))
                }
            case "tool_use": events += called(content)
            default: break
            }
        }
        return events
    }

    /// Takes a whole block, of which some may have been shown already.
    private mutating func said(
        _ whole: String, isReasoning: Bool, _ part: (String) -> Message.Part
    ) -> [TurnEvent] {
        var shown = ""
        if let block, !block.isSettled, block.isReasoning == isReasoning {
            shown = block.text
            self.block?.isSettled = true
        } else {
            settleBlock()
        }
        guard !whole.isEmpty else { return [] }
        parts.append(part(whole))
        // What was shown cannot be taken back; where the frame has other words, only they are kept.
        guard whole.utf8.count > shown.utf8.count, whole.utf8.starts(with: shown.utf8) else { return [] }
        let rest = String(decoding: whole.utf8.dropFirst(shown.utf8.count), as: UTF8.self)
        return [.chat(isReasoning ? .reasoning(rest) : .text(rest))]
    }

    /// Keeps a block whose frame never came.
    mutating func settleBlock() {
        if let block, !block.isSettled, !block.text.isEmpty {
            parts.append(block.isReasoning ? .reasoning(Reasoning(block.text)) : .text(block.text))
        }
        block = nil
    }
}
