import Capabilities
import JSON
import ModelKit

extension AnswerItems {
    /// Begins an item. What stands in it is taken when it ends.
    mutating func open(_ content: JSON, at index: Int, _ events: inout [ChatEvent]) throws(DialectError) {
        guard !items.contains(where: { $0.index == index }) else { return }
        _ = try add(at: index)
        let place = items.count - 1
        guard content["type"] == "function_call" else { return }
        try name(place, content, &events)
    }

    /// Tells of a call as soon as it is known what it calls.
    mutating func name(_ place: Int, _ content: JSON, _ events: inout [ChatEvent]) throws(DialectError) {
        guard items[place].call == nil else { return }
        let number = try budget.chargeCall()
        let call = (
            id: content["call_id"]?.filled ?? content["id"]?.filled ?? number, name: content["name"]?.filled ?? ""
        )
        try budget.charge(text: call.id + call.name)
        items[place].call = call
        if !call.name.isEmpty { events.append(.calling(id: call.id, name: call.name)) }
    }

    /// Goes on with an item's text. Where none has begun there, this begins one.
    mutating func append(
        _ text: String, _ kind: Kind, _ place: Int, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !text.isEmpty else { return }
        try budget.charge(text: text)
        let item = try position(at: index)
        guard items[item].isOpen else { return }
        let last = items[item].pieces.count - 1
        if last >= 0, items[item].pieces[last].kind == kind, items[item].pieces[last].place == place {
            items[item].pieces[last].text += text
            events.append(kind.event(text))
            return
        }
        if let piece = items[item].pieces.firstIndex(where: { $0.kind == kind && $0.place == place }) {
            items[item].pieces[piece].text += text
            events.append(kind.event(text))
            return
        }
        // Thoughts in several pieces are paragraphs.
        let isNext = kind.isReasoning && items[item].pieces.contains { $0.kind.isReasoning }
        let text = isNext ? "\n\n" + text : text
        try budget.chargePart()
        items[item].pieces.append(Piece(kind: kind, place: place, text: text))
        events.append(kind.event(text))
    }

    mutating func append(input: String, at index: Int) throws(DialectError) {
        try budget.charge(input: input)
        let item = try position(at: index)
        if items[item].isOpen { items[item].input += input }
    }

    /// The whole input, which some servers send without its pieces.
    mutating func replace(input: String?, at index: Int) throws(DialectError) {
        guard let input else { return }
        let item = try position(at: index)
        guard items[item].isOpen, input != items[item].input else { return }
        try budget.charge(input: input)
        items[item].input = input
    }

    @inline(__always)
    mutating func position(at index: Int) throws(DialectError) -> Int {
        if let last = items.last, last.index == index { return items.count - 1 }
        if let place = items.lastIndex(where: { $0.index == index }) { return place }
        return try add(at: index)
    }

    private mutating func add(at index: Int) throws(DialectError) -> Int {
        try budget.chargePart()
        items.append(Item(index: index))
        return items.count - 1
    }
}
