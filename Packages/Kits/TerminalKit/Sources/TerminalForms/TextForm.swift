public import Capabilities
public import JSON
public import TerminalKit

/// Formats a result for a person: a table for records, a list for one record, otherwise the bare value.
public struct TextForm {
    /// The colours of the terminal.
    public let level: ColorLevel
    /// The columns of a line; nil for no limit.
    public let width: Int?
    /// Provides the theme; called only if the text has colours.
    public var theme: @Sendable () -> Theme
    /// Formats times relative to now and in local time; nil to print them as programs get them.
    public var clock: LocalClock?
    /// Up to which positions feeds are printed; one that is not here is printed as far as it goes.
    public var feedEnds: [ObjectIdentifier: Int] = [:]
    /// Whether links of Markdown are given to the terminal (OSC 8). Their addresses are shown in any case.
    public var hasLinks = false
    /// Whether short values stand beside each other, where room is scarcer than lines are long.
    public var isDense = false

    /// By default times are printed as programs get them.
    public init(
        level: ColorLevel, width: Int?, theme: @escaping @Sendable () -> Theme = { .dark }, clock: LocalClock? = nil
    ) {
        self.level = level
        self.width = width
        self.theme = theme
        self.clock = clock
    }

    /// The lines of a value as the terminal gets them.
    public func text(_ value: JSON, _ schema: Schema) -> String {
        text(lines(value, schema))
    }

    /// The lines as the terminal gets them.
    public func text(_ lines: [StyledText]) -> String {
        if lines.isEmpty { return "" }
        let isColored = level != .none && lines.contains { $0.runs.contains { $0.style.token != nil } }
        let theme = isColored ? theme() : .dark
        return lines.map { $0.rendered(level: level, theme: theme) }.joined(separator: "\n") + "\n"
    }

    /// The lines of a value.
    public func lines(_ value: JSON, _ schema: Schema) -> [StyledText] {
        if case .array(let element) = schema.unwrapped, case .record(let properties) = element.unwrapped {
            return table(value.array ?? [], properties)
        }
        if case .record(let properties) = schema.unwrapped, let object = value.object {
            return list(object, properties)
        }
        if let items = value.array,
            schema.element.map(Self.isScalar) ?? items.allSatisfy({ $0.array == nil && $0.object == nil })
        {
            return items.map { StyledText(Cells.text($0, schema.element ?? .any)) }
        }
        if value.isNull { return [] }
        if value.array != nil || value.object != nil {
            return value.text(.pretty).split(separator: "\n", omittingEmptySubsequences: false)
                .map { StyledText(Sanitizer.sanitize(String($0))) }
        }
        // A text of several lines, such as a help page, is printed unchanged.
        var text = Cells.text(value, schema)[...]
        if text.hasSuffix("\n") { text = text.dropLast() }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { StyledText(String($0)) }
    }

    private static func isScalar(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .array, .map, .record: false
        default: true
        }
    }

    /// Leaves out details and columns that are empty in every row.
    func table(_ rows: [JSON], _ properties: [Schema.Property]) -> [StyledText] {
        if rows.isEmpty { return [] }
        let shown = properties.filter { property in
            property.role != .detail && rows.contains { !Cells.isEmpty($0[property.name]) }
        }
        let title = shown.firstIndex { $0.role == .plain && Cells.mayWrap($0.schema) }
        var table = Table(
            shown.enumerated().map { index, property in
                let isIdentifier = rows.contains { Cells.isIdentifier($0[property.name]) }
                return TableColumn(
                    Cells.title(property), alignment: Cells.isNumber(property.schema) ? .trailing : .leading,
                    mayWrap: [.plain, .minor].contains(property.role) && Cells.mayWrap(property.schema)
                        && !isIdentifier,
                    need: index == title
                        ? .always : Self.need(of: property, isIdentifier: isIdentifier, fromRight: shown.count - index))
            })
        for row in rows {
            table.append(shown.map { Cells.styled(row[$0.name] ?? .null, $0, clock, isBrief: true) })
        }
        return table.lines(width: width) { titles in
            "not shown for lack of space: \(titles.joined(separator: ", ")); --json shows all"
        }
    }

    /// What a table drops first if it is too wide: switches, then numbers, then ids of other things, then the rest,
    /// each from the right. Names, states and times stay.
    public static func need(
        of property: Schema.Property, isIdentifier: Bool, fromRight place: Int
    ) -> TableColumn.Need {
        switch property.role {
        case .name, .state, .detail: return .always
        case .minor: return .ifThereIsRoom
        case .plain: break
        }
        switch property.schema.unwrapped {
        case .time: return .always
        case .boolean: return .ifItFits(place)
        case .integer, .number, .size, .duration: return .ifItFits(100 + place)
        default: return .ifItFits((isIdentifier ? 200 : 300) + place)
        }
    }

    /// The labels and values beside each other in columns; nil if that saves no line.
    private func dense(_ values: [(label: String, value: StyledText)]) -> [StyledText]? {
        let cells = values.map { StyledText($0.label + " ", Style(.mutedForeground)) + $0.value }
        guard let width, let widest = cells.map(\.width).max(), values.count > 2,
            !values.contains(where: { $0.value.plainText.contains(where: \.isNewline) })
        else { return nil }
        let columns = (width + 3) / (widest + 3)
        guard columns > 1 else { return nil }
        return stride(from: 0, to: cells.count, by: columns).map { first in
            var line = StyledText()
            for (number, cell) in cells[first..<min(cells.count, first + columns)].enumerated() {
                if number > 0 { line.append("   ") }
                line.append(first + number + 1 < cells.count && number + 1 < columns ? cell.padded(to: widest) : cell)
            }
            return line
        }
    }

    /// Plain members first. Then each list of records, and each object of any shape, as a separate table.
    func list(_ object: JSONObject, _ properties: [Schema.Property]) -> [StyledText] {
        var list = KeyValueList()
        var labelled: [(label: String, value: StyledText)] = []
        var tables: [[StyledText]] = []
        for property in properties {
            guard let value = object[property.name], !Cells.isEmpty(value) else { continue }
            if case .array(let element) = property.schema.unwrapped, case .record(let inner) = element.unwrapped {
                tables.append(
                    [StyledText(Cells.title(property), Style(.mutedForeground))] + table(value.array ?? [], inner))
            } else if property.schema.unwrapped == .any, let members = value.object {
                // The outputs of a bundle: shows texts as they read, without JSON quotes and escapes.
                var inner = KeyValueList()
                for (name, member) in members { inner.append(name, StyledText(Cells.text(member, .any))) }
                tables.append([StyledText(Cells.title(property), Style(.mutedForeground))] + inner.lines(width: width))
            } else {
                labelled.append((Cells.label(property), Cells.styled(value, property, clock, isBrief: isDense)))
            }
        }
        for (label, value) in labelled { list.append(label, value) }
        var lines = isDense ? dense(labelled) ?? list.lines(width: width) : list.lines(width: width)
        for table in tables {
            if !lines.isEmpty { lines.append("") }
            lines += table
        }
        return lines
    }
}
