import Capabilities
import HTTPClient
import HTTPCore
import ModelKit

extension StreamedAnswer {
    /// Reads a stream and passes on what there is, as often as something comes.
    func readEvents<D: Dialect>(
        _ exchange: HTTPExchange, in dialect: D, model: String, _ delivery: inout Delivery,
        _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var reader = dialect.reader()
        var batches = exchange.events(readsErrorField: readsErrorField).batches.makeAsyncIterator()
        // One buffer for the data of all events: an array for each would be made and freed as often.
        var data: [UInt8] = []
        var name = ""
        var gathering = Gathering()
        while !reader.isComplete {
            var events: [ChatEvent] = []
            var failure: AnswerFailure?
            var questions: [ServerQuestion] = []
            var count = 0
            do {
                guard let batch = try await batches.next() else { break }
                count = batch.count
                for index in batch.indices {
                    data.removeAll(keepingCapacity: true)
                    data.append(contentsOf: batch[index].data)
                    name = batch[index].type
                    let before = events.count
                    try reader.receive(name, data, into: &events)
                    guard events.count == before else { continue }
                    if agent?.approve != nil, let question = ServerQuestion(data) {
                        questions.append(question)
                    } else {
                        delivery.skipped.look(at: name, data)
                    }
                }
            } catch let error as HTTPError {
                failure = AnswerFailure(error, hasBegun: true, from: access)
            } catch let error as DialectError {
                failure = AnswerFailure(access.clean(error, name, data, dialect), model: model, from: access)
            }
            // What came before the failure counts.
            try await delivery.deliver(events, to: receive)
            if let failure { throw failure }
            // The server goes on only when it has its answers.
            for question in questions { try await settle(question, &delivery, receive) }
            if !reader.isComplete { try await gathering.pause(after: count) }
        }
        // What stands behind the page may look like a good end all the same.
        if batches.hasMarkup { throw AnswerFailure(webPageFrom: access, hasBegun: true, status: exchange.status.code) }
        return try await finish(&reader, model, &delivery, receive)
    }

    private func settle(
        _ question: ServerQuestion, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws {
        guard let agent else { return }
        let settled = try await agent.settle(question, in: delivery.session?.id, through: access)
        if settled.isUnapproved { delivery.isUnapproved = true }
        if settled.isUnfit { delivery.hasUnfitApproval = true }
        if let notice = settled.notice { try await delivery.deliver([.notice(notice)], to: receive) }
    }

    private func finish(
        _ reader: inout some AnswerReader, _ model: String, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var events: [ChatEvent] = []
        let result: Result<ChatAnswer, DialectError>
        do { result = .success(try reader.finish(into: &events)) } catch { result = .failure(error) }
        try await delivery.deliver(events, to: receive)
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw AnswerFailure(error, model: model, from: access)
        }
    }

    /// Reads an answer that came at once: as was asked for, or because this server streams nothing.
    func readWhole<D: Dialect>(
        _ exchange: HTTPExchange, in dialect: D, model: String, _ delivery: inout Delivery,
        _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        let body: [UInt8]
        do {
            body = try await exchange.collect(limit: AnswerLimits.largestWhole)
        } catch let error as HTTPError {
            throw AnswerFailure(error, hasBegun: true, from: access)
        }
        let first = body.first { $0 > 32 }
        if first == UInt8(ascii: "<") {
            throw AnswerFailure(webPageFrom: access, hasBegun: false, status: exchange.status.code)
        }
        var events: [ChatEvent] = []
        do {
            // Events under another type: what begins with a field's name, or a comment, is no JSON.
            if let first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") {
                return try await readKept(body, in: dialect, model, &delivery, receive)
            }
            let answer = try dialect.answer(in: body, into: &events)
            try await delivery.deliver(events, to: receive)
            return answer
        } catch let error as DialectError {
            try await delivery.deliver(events, to: receive)
            throw AnswerFailure(access.clean(error, body, dialect), model: model, from: access)
        }
    }

    private func readKept<D: Dialect>(
        _ body: [UInt8], in dialect: D, _ model: String, _ delivery: inout Delivery, _ receive: Delivery.Receive
    ) async throws -> ChatAnswer {
        var parser = EventParser(readsErrorField: readsErrorField)
        var batch: [ServerSentEvent] = []
        parser.feed(body)
        parser.readRest(into: &batch)
        guard !batch.isEmpty else {
            // It is no stream either, and the dialect has words for that.
            var events: [ChatEvent] = []
            return try dialect.answer(in: body, into: &events)
        }
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        var (name, data): (String, [UInt8]) = ("", [])
        var failure: DialectError?
        do throws(DialectError) {
            for event in batch {
                name = event.type
                data = Array(event.data)
                try reader.receive(name, data, into: &events)
            }
        } catch {
            failure = access.clean(error, name, data, dialect)
        }
        try await delivery.deliver(events, to: receive)
        if let failure { throw AnswerFailure(failure, model: model, from: access) }
        return try await finish(&reader, model, &delivery, receive)
    }
}
