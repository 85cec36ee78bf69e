extension JSONDocument {
    /// An element or, with a key, a member that is to be written.
    struct NewItem {
        let key: String?
        let value: JSON
        let keyStyle: JSONWriter.KeyStyle
    }

    /// Adds an item at the end of an array or object.
    func add(_ item: NewItem, to node: JSONSyntax, isBroken: Bool, _ lines: JSONLines, _ edits: inout JSONEdits) {
        if let last = node.items.last {
            add(item, after: last, in: node, lines, &edits)
        } else {
            add(item, toEmpty: node, isBroken: isBroken, lines, &edits)
        }
    }

    /// Goes behind the last item and the comments on its line; a comma behind that one calls for one behind this.
    private func add(
        _ item: NewItem, after last: JSONSyntax.Item, in node: JSONSyntax, _ lines: JSONLines, _ edits: inout JSONEdits
    ) {
        if last.comma == nil { edits.insert(",", at: last.end) }
        let (end, endsLine) = lines.skipComments(from: last.comma.map { $0 + 1 } ?? last.end)
        let isBroken = lines.isBroken(node)
        let comma = last.comma == nil ? "" : ","
        guard isBroken || endsLine else {
            edits.insert(" " + written(item, style: .inline) + comma, at: end)
            return
        }
        let base =
            isBroken ? lines.indentation(at: last.start) : lines.indentation(at: node.range.lowerBound) + lines.indent
        edits.insert(lines.lineBreak + base + written(item, style: lines.style(base: base)) + comma, at: end)
    }

    private func add(
        _ item: NewItem, toEmpty node: JSONSyntax, isBroken: Bool, _ lines: JSONLines, _ edits: inout JSONEdits
    ) {
        let inside = node.range.lowerBound + 1..<node.range.upperBound - 1
        let outer = lines.indentation(at: node.range.lowerBound)
        let base = outer + lines.indent
        let ownLine = lines.lineBreak + base + written(item, style: lines.style(base: base))
        if let (end, isClosed) = lines.lastComment(in: inside) {
            edits.insert(ownLine + (isClosed ? "" : lines.lineBreak + outer), at: end)
        } else if isBroken {
            edits.replace(inside, with: ownLine + lines.lineBreak + outer)
        } else {
            edits.replace(inside, with: written(item, style: .inline))
        }
    }

    private func written(_ item: NewItem, style: JSONWriter.Style) -> String {
        written(item.value, style: style, item.keyStyle, key: item.key)
    }
}
