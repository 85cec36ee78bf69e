import JSON
import PatternKit

/// Compiles the subschemas of a document to nodes. The index of a node is that of its subschema.
struct SchemaCompiler {
    private var document: SchemaDocument
    private var nodes: [Node] = []
    private var choices: [Choices] = []
    private var numbers: [NumberRules] = []
    private var texts: [TextRules] = []
    private var lists: [ListRules] = []
    private var members: [MemberRules] = []
    private var combinations: [Combination] = []
    private var patterns = SchemaPatterns()
    private var gaps = SchemaGaps()
    private var needsScope = false
    private var dynamicAnchors: [String: [(resource: Int32, node: Int32)]] = [:]

    init(_ schema: JSON, _ limits: JSONSchema.Limits) {
        document = SchemaDocument(schema, limits)
    }

    /// Compiles everything.
    mutating func program() throws(SchemaError) -> Program {
        if let unknown = document.dialect.unknown {
            _ = gaps.add(.keyword, "the draft \(Shown.text(unknown)) is not known; checked as 2020-12", key: "$schema")
        }
        // References may add more.
        var entry = 0
        while entry < document.entries.count, !document.faults.isStopped, !document.faults.hasMore {
            compile(entry)
            entry += 1
        }
        guard document.faults.problems.isEmpty else {
            throw SchemaError(problems: document.faults.problems, hasMore: document.faults.hasMore)
        }
        return Program(
            nodes: nodes, choices: choices, numbers: numbers, texts: texts, lists: lists, members: members,
            combinations: combinations, patterns: patterns.all, gaps: gaps.all, places: document.places,
            needsScope: needsScope)
    }

    private mutating func compile(_ index: Int) {
        let entry = document.entries[index]
        var node = Node(place: Int32(entry.place), resource: Int32(entry.resource), kinds: .all)
        switch entry.json {
        case .bool(let accepts): node.kinds = accepts ? .all : []
        case .object(let keywords): read(keywords, of: index, into: &node)
        default:
            document.fault(
                "needs to be an object or a boolean, not \(entry.json.kindName)", at: document.pointer(entry.place))
        }
        nodes.append(node)
    }

    private mutating func read(_ keywords: JSONObject, of index: Int, into node: inout Node) {
        var reader = KeywordReader(keywords)
        if document.dialect.isOld, keywords["$ref"] != nil {
            readCombination(keywords, &reader, index, &node)
        } else {
            if let kinds = reader.kinds() { node.kinds = kinds }
            for keyword in ["$defs", "definitions"] { _ = reader.object(keyword) }
            readChoices(keywords, &reader, &node)
            readNumbers(keywords, &reader, &node)
            readText(keywords, &reader, &node)
            readList(keywords, &reader, index, &node)
            readMembers(keywords, &reader, index, &node)
            readCombination(keywords, &reader, index, &node)
        }
        let rules = [node.choice, node.constant, node.number, node.text, node.list, node.members, node.combination]
        node.isPlain = rules.allSatisfy { $0 < 0 }
        for fault in reader.faults { document.fault(fault.message, at: place(node, fault.keyword)) }
    }

    // MARK: Values, numbers, texts

    private mutating func readChoices(_ keywords: JSONObject, _ reader: inout KeywordReader, _ node: inout Node) {
        if keywords["enum"] != nil, let values = reader.array("enum") {
            node.choice = Self.append(Choices(values), to: &choices)
        }
        if let value = keywords["const"] { node.constant = Self.append(Choices([value]), to: &choices) }
    }

    private mutating func readNumbers(_ keywords: JSONObject, _ reader: inout KeywordReader, _ node: inout Node) {
        var rules = NumberRules()
        rules.minimum = reader.number("minimum")
        rules.maximum = reader.number("maximum")
        // In draft-04 these are flags of the limits.
        if keywords["exclusiveMinimum"]?.bool == true { swap(&rules.minimum, &rules.exclusiveMinimum) }
        if keywords["exclusiveMaximum"]?.bool == true { swap(&rules.maximum, &rules.exclusiveMaximum) }
        if keywords["exclusiveMinimum"]?.bool == nil { rules.exclusiveMinimum = reader.number("exclusiveMinimum") }
        if keywords["exclusiveMaximum"]?.bool == nil { rules.exclusiveMaximum = reader.number("exclusiveMaximum") }
        if let number = reader.number("multipleOf") {
            if ExactNumber.isLess(0, number) {
                rules.divisor = Divisor(number)
                if rules.divisor == nil {
                    let place = place(node, "multipleOf")
                    rules.gap = gaps.add(.keyword, "the number at \(place) has too many digits", key: place)
                }
            } else {
                reader.fault("multipleOf", "needs to be greater than 0")
            }
        }
        var limits = [rules.minimum, rules.maximum, rules.exclusiveMinimum, rules.exclusiveMaximum]
        if limits.contains(where: Self.isHuge) {
            let place = document.pointer(Int(node.place))
            rules = NumberRules()
            rules.gap = gaps.add(.keyword, "a number at \(place) has too many digits", key: place)
            limits = []
        }
        guard limits.contains(where: { $0 != nil }) || rules.divisor != nil || rules.gap >= 0 else { return }
        node.number = Self.append(rules, to: &numbers)
    }

    private mutating func readText(_ keywords: JSONObject, _ reader: inout KeywordReader, _ node: inout Node) {
        var rules = TextRules()
        rules.least = reader.count("minLength") ?? 0
        rules.most = reader.count("maxLength") ?? Int.max
        if let text = reader.string("pattern") {
            (rules.pattern, rules.patternGap) = pattern(text, of: node, "pattern")
        }
        if let format = reader.string("format") {
            let name = Shown.text(format)
            rules.formatGap = gaps.add(.format, "the format \(name) is not checked", key: "format \(name)")
        }
        guard
            rules.least > 0 || rules.most < Int.max || rules.pattern >= 0 || rules.formatGap >= 0
                || rules.patternGap >= 0
        else { return }
        node.text = Self.append(rules, to: &texts)
    }

    /// A compiled pattern, or a gap if there is none.
    private mutating func pattern(_ text: String, of node: Node, _ keyword: String) -> (pattern: Int32, gap: Int32) {
        do throws(ScriptPattern.Refusal) {
            return (try patterns.index(of: text), -1)
        } catch {
            let place = place(node, keyword)
            let message = "the pattern at \(place) cannot be checked: \(Shown.text(error.reason))"
            return (-1, gaps.add(.pattern, message, key: place))
        }
    }

    /// Whether comparing with it would take long each time.
    private static func isHuge(_ number: JSON?) -> Bool {
        guard case .big(let digits) = number else { return false }
        return digits.utf8.count > 400
    }

    // MARK: Arrays and objects

    private mutating func readList(
        _ keywords: JSONObject, _ reader: inout KeywordReader, _ index: Int, _ node: inout Node
    ) {
        // Before 2020-12, the first elements were an array in `items`, and the others had `additionalItems`.
        let isTuple = keywords["items"]?.array != nil
        let (firstKeyword, restKeyword) = isTuple ? ("items", "additionalItems") : ("prefixItems", "items")
        let first = keywords[firstKeyword] == nil ? nil : reader.array(firstKeyword)
        let contained = child(index, keywords, "contains")
        let rules = ListRules(
            least: reader.count("minItems") ?? 0, most: reader.count("maxItems") ?? Int.max,
            isUnique: reader.flag("uniqueItems") ?? false,
            first: (first ?? []).indices.map { Int32(document.entry([firstKeyword, String($0)], below: index)) },
            rest: child(index, keywords, restKeyword), contained: contained,
            leastContained: reader.count("minContains") ?? 1, mostContained: reader.count("maxContains") ?? Int.max,
            restKeyword: restKeyword)
        guard
            rules.least > 0 || rules.most < Int.max || rules.isUnique || !rules.first.isEmpty || rules.rest >= 0
                || contained >= 0
        else { return }
        node.list = Self.append(rules, to: &lists)
    }

    private mutating func readMembers(
        _ keywords: JSONObject, _ reader: inout KeywordReader, _ index: Int, _ node: inout Node
    ) {
        var names: [String] = []
        var indexes: [ByteName: Int] = [:]
        var children: [Int32] = []
        for (name, _) in reader.object("properties") ?? [:] {
            indexes[ByteName(name)] = names.count
            names.append(name)
            children.append(Int32(document.entry(["properties", name], below: index)))
        }
        var required: [Int] = []
        for name in reader.strings("required") ?? [] {
            let known = indexes[ByteName(name)]
            if known == nil {
                indexes[ByteName(name)] = names.count
                names.append(name)
                children.append(-1)
            }
            required.append(known ?? names.count - 1)
        }
        var expressions: [(pattern: Int32, gap: Int32, node: Int32)] = []
        for (text, _) in reader.object("patternProperties") ?? [:] {
            let child = Int32(document.entry(["patternProperties", text], below: index))
            let (pattern, gap) = self.pattern(text, of: node, "patternProperties/" + Pointer.escape(text))
            expressions.append((pattern, gap, child))
        }
        let isOld = document.dialect.isOld
        let dependentKeyword = isOld ? "dependencies" : "dependentRequired"
        var dependent: [(name: String, needed: [String])] = []
        for (name, needed) in reader.object(dependentKeyword) ?? [:] where needed.array != nil || !isOld {
            dependent.append((name, reader.strings(needed, dependentKeyword + "/" + Pointer.escape(name)) ?? []))
        }
        let rules = MemberRules(
            names: names, nodes: children, required: required, patterns: expressions,
            additional: child(index, keywords, "additionalProperties"), naming: child(index, keywords, "propertyNames"),
            least: reader.count("minProperties") ?? 0, most: reader.count("maxProperties") ?? Int.max,
            dependent: dependent, dependentKeyword: dependentKeyword)
        guard
            !names.isEmpty || !expressions.isEmpty || rules.additional >= 0 || rules.naming >= 0 || rules.least > 0
                || rules.most < Int.max || !dependent.isEmpty
        else { return }
        node.members = Self.append(rules, to: &members)
    }

    // MARK: Other subschemas for the same value

    private mutating func readCombination(
        _ keywords: JSONObject, _ reader: inout KeywordReader, _ index: Int, _ node: inout Node
    ) {
        let (reference, gap) = readReference(&reader, node)
        let (dynamic, dynamicGap) = readDynamicReference(keywords, &reader, node)
        let isOverridden = document.dialect.isOld && keywords["$ref"] != nil
        func child(_ keyword: String) -> Int32 { isOverridden ? -1 : self.child(index, keywords, keyword) }
        func children(_ keyword: String) -> [Int32] {
            guard !isOverridden, keywords[keyword] != nil, let parts = reader.array(keyword) else { return [] }
            if parts.isEmpty { reader.fault(keyword, "needs at least one schema") }
            return parts.indices.map { Int32(document.entry([keyword, String($0)], below: index)) }
        }
        var dependent: [(name: String, node: Int32)] = []
        let dependentKeyword = document.dialect.isOld ? "dependencies" : "dependentSchemas"
        for (name, _) in (isOverridden ? nil : reader.object(dependentKeyword)) ?? [:] {
            let child = document.entry([dependentKeyword, name], below: index)
            if child >= 0 { dependent.append((name, Int32(child))) }
        }
        let rules = Combination(
            reference: reference, dynamic: dynamic, gap: max(gap, dynamicGap), all: children("allOf"),
            any: children("anyOf"), one: children("oneOf"), not: child("not"), condition: child("if"),
            then: child("then"), otherwise: child("else"), dependent: dependent,
            otherElements: child("unevaluatedItems"), otherMembers: child("unevaluatedProperties"))
        guard
            rules.reference >= 0 || rules.gap >= 0 || dynamic != nil || !rules.all.isEmpty || !rules.any.isEmpty
                || !rules.one.isEmpty || rules.not >= 0 || rules.condition >= 0 || !dependent.isEmpty
                || rules.needsEvaluated
        else { return }
        node.combination = Self.append(rules, to: &combinations)
    }

    private mutating func readReference(
        _ reader: inout KeywordReader, _ node: Node, _ keyword: String = "$ref"
    ) -> (node: Int32, gap: Int32) {
        guard let text = reader.string(keyword) else { return (-1, -1) }
        switch document.target(of: text, in: Int(node.resource)) {
        case .entry(let entry): return (Int32(entry), -1)
        case .outside:
            let message = "\(Shown.text(text)) cannot be checked: it is another document, and nothing is fetched"
            return (-1, gaps.add(.reference, "the reference at \(place(node, keyword)) to \(message)", key: text))
        case .missing:
            reader.fault(keyword, "refers to \(Shown.text(text)), which is not in the schema")
            return (-1, -1)
        }
    }

    private mutating func readDynamicReference(
        _ keywords: JSONObject, _ reader: inout KeywordReader, _ node: Node
    ) -> (DynamicReference?, gap: Int32) {
        if keywords["$recursiveRef"] != nil {
            let place = place(node, "$recursiveRef")
            return (nil, gaps.add(.reference, "the reference at \(place) belongs to draft 2019-09", key: place))
        }
        let (target, gap) = readReference(&reader, node, "$dynamicRef")
        guard target >= 0, let text = reader.string("$dynamicRef") else { return (nil, gap) }
        let name = ReferenceAddress(text).fragment
        let anchors = dynamicAnchors[name] ?? document.dynamicAnchors(name)
        dynamicAnchors[name] = anchors
        let isDynamic = anchors.contains { $0.node == target } && anchors.count > 1
        if isDynamic { needsScope = true }
        return (DynamicReference(target: target, anchors: isDynamic ? anchors : []), gap)
    }

    // MARK: Parts

    /// The JSON pointer of a keyword.
    private func place(_ node: Node, _ keyword: String) -> String {
        "\(document.pointer(Int(node.place)))/\(keyword)"
    }

    private func child(_ index: Int, _ keywords: JSONObject, _ keyword: String) -> Int32 {
        keywords[keyword] == nil ? -1 : Int32(document.entry([keyword], below: index))
    }

    private static func append<Rule>(_ rule: Rule, to rules: inout [Rule]) -> Int32 {
        rules.append(rule)
        return Int32(rules.count - 1)
    }
}

/// The patterns of a schema, each compiled once.
struct SchemaPatterns {
    private static let most = 1_000

    private(set) var all: [SchemaPattern] = []
    private var known: [ByteName: Int32] = [:]
    private var size = 0

    /// The index of the compiled expression.
    mutating func index(of text: String) throws(ScriptPattern.Refusal) -> Int32 {
        if let known = known[ByteName(text)] { return known }
        guard text.utf8.count <= SchemaPattern.longest else {
            throw ScriptPattern.Refusal("it is longer than \(SchemaPattern.longest) bytes")
        }
        guard all.count < Self.most, size < SchemaPattern.largestTotal else {
            throw ScriptPattern.Refusal("the patterns of the schema are too large")
        }
        let translation = try ScriptPattern.translate(text)
        let pattern: Pattern
        do {
            pattern = try Pattern(Array(translation.utf8), [.unicode, .endsAtEnd, .refusesBytes, .emptyUnsetGroups])
        } catch {
            throw ScriptPattern.Refusal(error.message)
        }
        size += pattern.size
        all.append(SchemaPattern(text: text, pattern: pattern))
        known[ByteName(text)] = Int32(all.count - 1)
        return Int32(all.count - 1)
    }
}

/// What in a schema is not checked, up to a limit.
struct SchemaGaps {
    /// A check remembers in a word which ones it has met.
    static let most = 64

    private(set) var all: [JSONSchema.Gap] = []
    private var known: [String: Int32] = [:]

    /// The index of a gap; the same for the same key.
    mutating func add(_ kind: JSONSchema.Gap.Kind, _ message: String, key: String) -> Int32 {
        if let index = known[key] { return index }
        guard all.count < Self.most - 1 else {
            if all.count < Self.most {
                all.append(JSONSchema.Gap(kind: kind, description: "more parts of the schema are not checked"))
            }
            return Int32(Self.most - 1)
        }
        all.append(JSONSchema.Gap(kind: kind, description: message))
        known[key] = Int32(all.count - 1)
        return Int32(all.count - 1)
    }
}
