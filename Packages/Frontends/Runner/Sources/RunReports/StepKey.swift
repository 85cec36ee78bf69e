import Runs

/// Takes the key of a step apart: `outer[os=linux]/ask[model=a]` is a run of `ask` inside of a run of `outer`.
enum StepKey {
    /// What a key belongs to: the step of one of its runs, the step that runs the bundle around it; nil at the top.
    static func parent(of key: String) -> String? {
        let (slash, bracket) = marks(in: key)
        if let bracket { return String(key[..<bracket]) }
        return slash.map { String(key[..<$0]) }
    }

    /// What a key adds to that of its parent.
    static func name(of key: String) -> String {
        let (slash, bracket) = marks(in: key)
        if let bracket { return String(key[bracket...]) }
        return slash.map { String(key[key.index(after: $0)...]) } ?? key
    }

    /// The last slash outside of brackets, and the bracket that begins the values of a run where the key ends with them.
    private static func marks(in key: String) -> (slash: String.Index?, bracket: String.Index?) {
        var (slash, bracket): (String.Index?, String.Index?)
        var isInside = false
        let bytes = key.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "["):
                if !isInside { bracket = index }
                isInside = true
            case UInt8(ascii: "]"):
                // Values may hold brackets themselves; only one before a slash or at the end closes them.
                let next = bytes.index(after: index)
                if next == bytes.endIndex || bytes[next] == UInt8(ascii: "/") { isInside = false }
            case UInt8(ascii: "/") where !isInside: (slash, bracket) = (index, nil)
            default: break
            }
            index = bytes.index(after: index)
        }
        return (slash, bracket)
    }
}

extension Sequence<StepUpdate> {
    /// The last that is known of each step, without those that only gather what others did.
    var leaves: [StepUpdate] {
        var order: [String] = []
        var last: [String: StepUpdate] = [:]
        var parents: Set<String> = []
        var failedBelow: Set<String> = []
        for update in self {
            if last.updateValue(update, forKey: update.key) == nil { order.append(update.key) }
            var parent = StepKey.parent(of: update.key)
            while let key = parent {
                parents.insert(key)
                if update.outcome.status == .failed { failedBelow.insert(key) }
                parent = StepKey.parent(of: key)
            }
        }
        // One that gathers others and failed by itself has a reason of its own.
        return order.compactMap { last[$0] }.filter { update in
            !parents.contains(update.key) || (update.outcome.status == .failed && !failedBelow.contains(update.key))
        }
    }
}
