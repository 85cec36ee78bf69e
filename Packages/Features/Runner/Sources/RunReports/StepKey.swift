import Runs

/// Splits the key of a step: `outer[os=linux]/ask[model=a]` is a run of `ask` inside a run of `outer`.
package enum StepKey {
    /// The key of the parent: the step of a run, or the step that runs the bundle around it; nil at the top.
    package static func parent(of key: String) -> String? {
        let (slash, bracket) = marks(in: key)
        if let bracket { return String(key[..<bracket]) }
        return slash.map { String(key[..<$0]) }
    }

    /// The part of a key after the key of its parent.
    package static func name(of key: String) -> String {
        let (slash, bracket) = marks(in: key)
        if let bracket { return String(key[bracket...]) }
        return slash.map { String(key[key.index(after: $0)...]) } ?? key
    }

    /// The last slash outside of brackets, and the bracket that opens the values if the key ends with them.
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
                // Values may contain brackets. Only a bracket before a slash or at the end closes them.
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
    /// The last update of each step, without steps that only group others.
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
        // A step that groups others and failed by itself has its own reason.
        return order.compactMap { last[$0] }.filter { update in
            !parents.contains(update.key) || (update.outcome.status == .failed && !failedBelow.contains(update.key))
        }
    }
}
