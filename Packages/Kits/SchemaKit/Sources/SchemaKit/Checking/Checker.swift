import JSON
import PatternKit

/// One check of a value. It either only finds out whether the value matches, and stops at the first problem, or reports all.
///
/// A subschema is a node; `parts` is the index of the set that collects which members or elements subschemas have looked
/// at, or -1 if nobody asks.
struct Checker {
    private let program: Program
    private var report: Report
    /// Above zero, nothing is reported.
    private var quiet: Int

    private var budget: CheckBudget
    private var depth = 0

    /// The nodes that references have led to; those from `base` on at the present part of the value.
    private var active: [Int32] = []
    private var base = 0
    /// The resources that have been entered, if they matter.
    private var scope: [Int32] = []
    private var evaluated: [EvaluatedParts] = []
    private var matcher: PatternMatcher?

    init(_ program: Program, _ limits: JSONSchema.Limits, reports: Bool) {
        self.program = program
        report = Report(limit: limits.problems)
        quiet = reports ? 0 : 1
        budget = CheckBudget(limits)
    }

    var problems: [JSONSchema.Problem] { report.problems }
    var hasMore: Bool { report.hasMore }
    /// What was not checked.
    var gaps: [JSONSchema.Gap] { budget.gaps(of: program) }

    /// Checks the whole value.
    mutating func check(_ value: JSON) -> CheckOutcome { check(0, value, -1) }

    /// Whether the rest of a conjunction can be skipped.
    private func isSettled(_ outcome: CheckOutcome) -> Bool {
        budget.isStopped || outcome == .no && (quiet > 0 || report.hasMore)
    }

    private mutating func refuse(_ node: Node, _ keyword: String, _ message: @autoclosure () -> String) -> CheckOutcome
    {
        if quiet == 0 { report.add(message(), keyword: program.pointer(node, keyword)) }
        return .no
    }

    // MARK: A subschema

    private mutating func check(_ id: Int32, _ value: JSON, _ parts: Int) -> CheckOutcome {
        guard budget.take(1) else { return .maybe }
        let node = program.nodes[Int(id)]
        let kinds = Kinds(of: value)
        if node.kinds.isDisjoint(with: kinds) {
            if node.kinds.isEmpty { return refuseAll(node) }
            return refuse(node, "type", "needs \(node.kinds.words), not \(value.kindName)")
        }
        if node.isPlain { return .yes }
        guard budget.allows(depth: depth) else { return .maybe }
        depth += 1
        defer { depth -= 1 }
        let changesScope = program.needsScope && scope.last != node.resource
        if changesScope { scope.append(node.resource) }
        defer { if changesScope { scope.removeLast() } }
        return checkRules(node, value, kinds, parts)
    }

    private mutating func refuseAll(_ node: Node) -> CheckOutcome {
        if quiet == 0 { report.add("is not allowed", keyword: program.pointer(node)) }
        return .no
    }

    private mutating func checkRules(_ node: Node, _ value: JSON, _ kinds: Kinds, _ parts: Int) -> CheckOutcome {
        var outcome = CheckOutcome.yes
        if node.choice >= 0 || node.constant >= 0 { outcome = checkChoices(node, value, kinds) }
        if isSettled(outcome) { return outcome }
        let combination = node.combination >= 0 ? program.combinations[Int(node.combination)] : nil
        // The node asks about its own subschemas only, and not about those beside it.
        let own = combination?.needsEvaluated == true ? evaluated.count : parts
        if own != parts { evaluated.append(EvaluatedParts()) }
        switch value {
        case .int, .big, .double:
            if node.number >= 0 { outcome = min(outcome, check(number: value, node)) }
        case .string(let text):
            if node.text >= 0 { outcome = min(outcome, check(text, node)) }
        case .array(let elements):
            if node.list >= 0 { outcome = min(outcome, check(elements, node, own)) }
        case .object(let members):
            if node.members >= 0 { outcome = min(outcome, check(members, node, own)) }
        case .null, .bool: break
        }
        guard let combination else { return budget.isStopped ? min(outcome, .maybe) : outcome }
        if !isSettled(outcome) { outcome = min(outcome, check(combination, node, value, own)) }
        if own != parts {
            if !budget.isStopped, outcome != .no { outcome = min(outcome, checkRest(combination, value, own)) }
            let mine = evaluated.removeLast()
            if parts >= 0, !budget.take(evaluated[parts].formUnion(mine)) { return min(outcome, .maybe) }
        }
        return budget.isStopped ? min(outcome, .maybe) : outcome
    }

    private mutating func checkChoices(_ node: Node, _ value: JSON, _ kinds: Kinds) -> CheckOutcome {
        var (outcome, cost) = (CheckOutcome.yes, 0)
        if node.choice >= 0 {
            let choices = program.choices[Int(node.choice)]
            if !choices.contains(value, kinds, cost: &cost) {
                outcome = refuse(node, "enum", "needs one of \(Shown.list(choices.values))")
            }
        }
        if node.constant >= 0, !isSettled(outcome) {
            let choices = program.choices[Int(node.constant)]
            if !choices.contains(value, kinds, cost: &cost) {
                outcome = refuse(node, "const", "needs to be \(Shown.list(choices.values))")
            }
        }
        return budget.take(cost) ? outcome : min(outcome, .maybe)
    }

    // MARK: Numbers and texts

    private mutating func check(number: JSON, _ node: Node) -> CheckOutcome {
        if case .big(let digits) = number, !budget.take(digits.utf8.count) { return .maybe }
        let rules = program.numbers[Int(node.number)]
        guard rules.accepts(number) else {
            if quiet == 0 {
                for (keyword, message) in rules.problems(number) { _ = refuse(node, keyword, message) }
            }
            return .no
        }
        return rules.gap >= 0 ? budget.note(rules.gap) : .yes
    }

    private mutating func check(_ text: String, _ node: Node) -> CheckOutcome {
        let rules = program.texts[Int(node.text)]
        var (outcome, cost) = (CheckOutcome.yes, 0)
        if rules.formatGap >= 0 { _ = budget.note(rules.formatGap) }
        if !rules.acceptsLength(of: text, cost: &cost) {
            outcome = .no
            if quiet == 0 {
                for (keyword, message) in rules.lengthProblems(of: text) { _ = refuse(node, keyword, message) }
            }
        }
        guard budget.take(cost), !isSettled(outcome), rules.pattern >= 0 || rules.patternGap >= 0 else {
            return outcome
        }
        let fits = match(rules.pattern, rules.patternGap, text)
        guard fits == .no else { return min(outcome, fits) }
        let pattern = program.patterns[Int(rules.pattern)].text
        return refuse(node, "pattern", "does not match the pattern \(Shown.text(pattern))")
    }

    /// Whether a pattern occurs in a text; open if it has a gap.
    private mutating func match(_ index: Int32, _ gap: Int32, _ text: String) -> CheckOutcome {
        guard gap < 0 else { return budget.note(gap) }
        if matcher == nil {
            do { matcher = try PatternMatcher() } catch {
                return budget.note(.pattern, "no pattern was checked: \(error.message)")
            }
        }
        guard let matcher else { return .maybe }
        let pattern = program.patterns[Int(index)]
        var cost = 0
        let outcome = pattern.occurs(in: text, matcher, cost: &cost)
        guard budget.take(cost) else { return .maybe }
        switch outcome {
        case .matches: return .yes
        case .differs: return .no
        case .unknown:
            let length = text.utf8.count
            return budget.note(
                .pattern,
                "the pattern \(Shown.text(pattern.text)) takes too many steps for a text of \(length) bytes")
        }
    }

    // MARK: Parts of the value

    private mutating func checkPart(_ id: Int32, _ value: JSON, name: String) -> CheckOutcome {
        if quiet == 0 { report.enter(name) }
        let (outer, count) = (base, active.count)
        base = count
        let outcome = check(id, value, -1)
        base = outer
        if quiet == 0 { report.leave() }
        return outcome
    }

    private mutating func checkPart(_ id: Int32, _ value: JSON, index: Int) -> CheckOutcome {
        if quiet == 0 { report.enter(index) }
        let (outer, count) = (base, active.count)
        base = count
        let outcome = check(id, value, -1)
        base = outer
        if quiet == 0 { report.leave() }
        return outcome
    }

    private mutating func check(_ elements: [JSON], _ node: Node, _ parts: Int) -> CheckOutcome {
        let rules = program.lists[Int(node.list)]
        var outcome = CheckOutcome.yes
        if elements.count < rules.least {
            outcome = refuse(
                node, "minItems", "needs at least \(Shown.count(rules.least, "element")), not \(elements.count)")
        }
        if elements.count > rules.most {
            outcome = refuse(
                node, "maxItems", "needs at most \(Shown.count(rules.most, "element")), not \(elements.count)")
        }
        let end = rules.rest >= 0 ? elements.count : min(elements.count, rules.first.count)
        for index in 0..<end where !isSettled(outcome) {
            let part = index < rules.first.count ? rules.first[index] : rules.rest
            outcome = min(outcome, checkPart(part, elements[index], index: index))
        }
        if parts >= 0 { evaluated[parts].insert(first: end) }
        if rules.contained >= 0, !isSettled(outcome) {
            outcome = min(outcome, checkContained(elements, rules, node, parts))
        }
        if rules.isUnique, elements.count > 1, !isSettled(outcome) {
            let repetition = Repetition(in: elements, limit: budget.steps)
            guard budget.take(repetition.cost) else { return min(outcome, .maybe) }
            if let (first, second) = repetition.pair {
                if quiet == 0 { report.enter(second) }
                outcome = refuse(
                    node, "uniqueItems", "is the same as element \(first), and each may be there once only")
                if quiet == 0 { report.leave() }
            }
        }
        return outcome
    }

    private mutating func checkContained(
        _ elements: [JSON], _ rules: ListRules, _ node: Node, _ parts: Int
    ) -> CheckOutcome {
        var (certain, open) = (0, 0)
        quiet += 1
        for index in elements.indices where !budget.isStopped {
            // Who collects needs to know about each.
            if parts < 0, certain >= rules.leastContained, rules.mostContained == Int.max { break }
            switch checkPart(rules.contained, elements[index], index: index) {
            case .yes:
                certain += 1
                if parts >= 0 { evaluated[parts].insert(index) }
            case .maybe:
                open += 1
                if parts >= 0 { evaluated[parts].isUncertain = true }
            case .no: break
            }
        }
        quiet -= 1
        if budget.isStopped { return .maybe }
        let outcome = CheckOutcome(
            certain, orMore: open, from: rules.leastContained, through: rules.mostContained)
        guard outcome == .no else { return outcome }
        let isTooFew = certain < rules.leastContained
        let (keyword, word, count) =
            isTooFew ? ("contains", "at least", rules.leastContained) : ("maxContains", "at most", rules.mostContained)
        return refuse(
            node, keyword, "needs \(word) \(Shown.count(count, "element")) as in contains, not \(certain)")
    }

    private mutating func check(_ members: JSONObject, _ node: Node, _ parts: Int) -> CheckOutcome {
        let rules = program.members[Int(node.members)]
        var outcome = CheckOutcome.yes
        if members.count < rules.least {
            outcome = refuse(
                node, "minProperties", "needs at least \(Shown.count(rules.least, "member")), not \(members.count)")
        }
        if members.count > rules.most {
            outcome = refuse(
                node, "maxProperties", "needs at most \(Shown.count(rules.most, "member")), not \(members.count)")
        }
        var (seen, index) = (UInt64(0), 0)
        for (name, value) in members {
            if isSettled(outcome) { return outcome }
            outcome = min(outcome, check(member: name, value, at: index, rules, parts, &seen))
            index += 1
        }
        if rules.requiredBits & ~seen != 0 || rules.names.names.count > 64 {
            outcome = min(outcome, checkRequired(members, rules, node, seen))
        }
        for (name, needed) in rules.dependent where !isSettled(outcome) {
            guard budget.take(1 + needed.count) else { return min(outcome, .maybe) }
            if members[name] == nil { continue }
            for other in needed where members[other] == nil {
                let keyword = "\(rules.dependentKeyword)/\(Pointer.escape(name))"
                outcome = refuseMissing(other, node, keyword, "is missing, and needed if \(Shown.text(name)) is there")
            }
        }
        return outcome
    }

    private mutating func check(
        member name: String, _ value: JSON, at index: Int, _ rules: MemberRules, _ parts: Int, _ seen: inout UInt64
    ) -> CheckOutcome {
        var outcome = CheckOutcome.yes
        var (isKnown, isOpen) = (false, false)
        if let known = rules.names.index(of: name) {
            if known < 64 { seen |= 1 << UInt64(known) }
            if rules.nodes[known] >= 0 {
                isKnown = true
                outcome = checkPart(rules.nodes[known], value, name: name)
            }
        }
        if rules.naming >= 0, !isSettled(outcome) {
            let count = report.problems.count
            outcome = min(outcome, checkPart(rules.naming, .string(name), name: name))
            if quiet == 0 { report.markNames(after: count) }
        }
        for (pattern, gap, node) in rules.patterns where !isSettled(outcome) {
            guard budget.take(1) else { return min(outcome, .maybe) }
            switch match(pattern, gap, name) {
            case .no: break
            case .yes:
                isKnown = true
                outcome = min(outcome, checkPart(node, value, name: name))
            case .maybe:
                isOpen = true
                quiet += 1
                let isFitting = checkPart(node, value, name: name) == .yes
                quiet -= 1
                if !isFitting { outcome = min(outcome, .maybe) }
            }
        }
        if !isKnown, rules.additional >= 0, !isSettled(outcome) {
            // It may belong to a pattern instead.
            if isOpen { quiet += 1 }
            let other = checkPart(rules.additional, value, name: name)
            if isOpen { quiet -= 1 }
            outcome = min(outcome, isOpen ? max(other, .maybe) : other)
            isKnown = true
        }
        if parts >= 0 {
            if isKnown { evaluated[parts].insert(index) } else if isOpen { evaluated[parts].isUncertain = true }
        }
        if !budget.take(name.utf8.count >> 6) { return min(outcome, .maybe) }
        return outcome
    }

    private mutating func checkRequired(
        _ members: JSONObject, _ rules: MemberRules, _ node: Node, _ seen: UInt64
    ) -> CheckOutcome {
        var outcome = CheckOutcome.yes
        for index in rules.required where !isSettled(outcome) {
            guard budget.take(1) else { return min(outcome, .maybe) }
            let name = rules.names.names[index]
            let isThere = index < 64 ? seen & (1 << UInt64(index)) != 0 : members[name] != nil
            if !isThere { outcome = refuseMissing(name, node, "required", "is missing") }
        }
        return outcome
    }

    private mutating func refuseMissing(
        _ name: String, _ node: Node, _ keyword: String, _ message: String
    ) -> CheckOutcome {
        if quiet == 0 {
            report.enter(name)
            _ = refuse(node, keyword, message)
            report.leave()
        }
        return .no
    }

    /// Checks what no other subschema has looked at.
    private mutating func checkRest(_ combination: Combination, _ value: JSON, _ own: Int) -> CheckOutcome {
        var outcome = CheckOutcome.yes
        func worst(_ part: CheckOutcome) -> CheckOutcome { evaluated[own].isUncertain ? max(part, .maybe) : part }
        let isOpen = evaluated[own].isUncertain
        if isOpen { quiet += 1 }
        if case .array(let elements) = value, combination.otherElements >= 0 {
            for index in elements.indices where !evaluated[own].contains(index) && !isSettled(outcome) {
                outcome = min(outcome, worst(checkPart(combination.otherElements, elements[index], index: index)))
            }
            evaluated[own].insert(first: elements.count)
        }
        if case .object(let members) = value, combination.otherMembers >= 0 {
            var index = 0
            for (name, value) in members {
                if isSettled(outcome) { break }
                if !evaluated[own].contains(index) {
                    outcome = min(outcome, worst(checkPart(combination.otherMembers, value, name: name)))
                }
                index += 1
            }
            evaluated[own].insert(first: members.count)
        }
        if isOpen { quiet -= 1 }
        return outcome
    }

    // MARK: Other subschemas for the same value

    private mutating func check(
        _ combination: Combination, _ node: Node, _ value: JSON, _ parts: Int
    ) -> CheckOutcome {
        var outcome = CheckOutcome.yes
        if combination.gap >= 0 {
            outcome = budget.note(combination.gap)
            if parts >= 0 { evaluated[parts].isUncertain = true }
        }
        if combination.reference >= 0 { outcome = min(outcome, follow(combination.reference, node, value, parts)) }
        if let dynamic = combination.dynamic, !isSettled(outcome) {
            guard budget.take(dynamic.anchors.count * scope.count >> 2) else { return min(outcome, .maybe) }
            let anchor = scope.lazy.compactMap { resource in dynamic.anchors.first { $0.resource == resource } }.first
            outcome = min(outcome, follow(anchor?.node ?? dynamic.target, node, value, parts))
        }
        for part in combination.all where !isSettled(outcome) { outcome = min(outcome, check(part, value, parts)) }
        if !combination.any.isEmpty, !isSettled(outcome) {
            outcome = min(outcome, checkAny(combination.any, node, value, parts))
        }
        if !combination.one.isEmpty, !isSettled(outcome) {
            outcome = min(outcome, checkOne(combination.one, node, value, parts))
        }
        if combination.not >= 0, !isSettled(outcome) {
            let opposite = attempt(combination.not, value, -1).opposite
            if opposite == .no { _ = refuse(node, "not", "matches what is excluded by not") }
            outcome = min(outcome, opposite)
        }
        if combination.condition >= 0, !isSettled(outcome) {
            outcome = min(outcome, checkCondition(combination, value, parts))
        }
        if !combination.dependent.isEmpty, case .object(let members) = value {
            for (name, part) in combination.dependent where !isSettled(outcome) {
                guard budget.take(1) else { return min(outcome, .maybe) }
                if members[name] != nil { outcome = min(outcome, check(part, value, parts)) }
            }
        }
        return outcome
    }

    /// Checks what a reference leads to, unless it is being checked at this part already.
    private mutating func follow(_ target: Int32, _ node: Node, _ value: JSON, _ parts: Int) -> CheckOutcome {
        for index in base..<active.count where active[index] == target {
            return budget.note(
                .reference, "the reference at \(program.pointer(node)) leads back to itself for the same value")
        }
        active.append(target)
        let outcome = check(target, value, parts)
        active.removeLast()
        return outcome
    }

    /// Checks a subschema that may fail, without reporting.
    private mutating func attempt(_ part: Int32, _ value: JSON, _ parts: Int) -> CheckOutcome {
        quiet += 1
        defer { quiet -= 1 }
        guard parts >= 0 else { return check(part, value, -1) }
        evaluated.append(EvaluatedParts())
        let outcome = check(part, value, evaluated.count - 1)
        let found = evaluated.removeLast()
        switch outcome {
        case .no: break
        case .maybe: evaluated[parts].isUncertain = true
        case .yes: _ = budget.take(evaluated[parts].formUnion(found))
        }
        return outcome
    }

    private mutating func checkAny(_ any: [Int32], _ node: Node, _ value: JSON, _ parts: Int) -> CheckOutcome {
        var outcome = CheckOutcome.no
        for part in any {
            if budget.isStopped { return .maybe }
            if outcome == .yes, parts < 0 { break }
            outcome = max(outcome, attempt(part, value, parts))
        }
        guard outcome == .no, quiet == 0 else { return budget.isStopped ? max(outcome, .maybe) : outcome }
        explain(any, node, "anyOf", value)
        return .no
    }

    private mutating func checkOne(_ one: [Int32], _ node: Node, _ value: JSON, _ parts: Int) -> CheckOutcome {
        var open = 0
        var matching: [Int] = []
        for (index, part) in one.enumerated() {
            if budget.isStopped { return .maybe }
            switch attempt(part, value, parts) {
            case .no: break
            case .maybe: open += 1
            case .yes: matching.append(index)
            }
            if matching.count > 1 {
                let (first, second) = (matching[0] + 1, matching[1] + 1)
                return refuse(
                    node, "oneOf", "matches the alternatives \(first) and \(second), and may match only one")
            }
        }
        if budget.isStopped { return .maybe }
        let outcome = CheckOutcome(matching.count, orMore: open, from: 1, through: 1)
        if outcome == .no, quiet == 0 { explain(one, node, "oneOf", value) }
        return outcome
    }

    /// Says why no alternative matches: if only one has the right type, then what is wrong with it.
    private mutating func explain(_ alternatives: [Int32], _ node: Node, _ keyword: String, _ value: JSON) {
        let kinds = Kinds(of: value)
        var (possible, wanted): ([Int32], Kinds) = ([], [])
        for alternative in alternatives {
            let accepted = program.kinds(of: alternative)
            wanted.formUnion(accepted)
            if !accepted.isDisjoint(with: kinds) { possible.append(alternative) }
        }
        if possible.isEmpty, !wanted.isEmpty {
            _ = refuse(node, keyword, "needs \(wanted.words), not \(value.kindName)")
        } else if let only = possible.first, possible.count == 1 {
            let count = report.problems.count
            _ = check(only, value, -1)
            if report.problems.count == count, !report.hasMore { _ = refuse(node, keyword, "matches no alternative") }
        } else {
            _ = refuse(node, keyword, "matches none of the \(alternatives.count) alternatives")
        }
    }

    private mutating func checkCondition(_ combination: Combination, _ value: JSON, _ parts: Int) -> CheckOutcome {
        func branch(_ part: Int32) -> CheckOutcome { part < 0 ? .yes : check(part, value, parts) }
        switch attempt(combination.condition, value, parts) {
        case .yes: return branch(combination.then)
        case .no: return branch(combination.otherwise)
        case .maybe:
            if budget.isStopped { return .maybe }
            let then = combination.then < 0 ? .yes : attempt(combination.then, value, parts)
            let otherwise = combination.otherwise < 0 ? .yes : attempt(combination.otherwise, value, parts)
            if parts >= 0 { evaluated[parts].isUncertain = true }
            return then == otherwise ? then : .maybe
        }
    }
}
