import Capabilities
import JSON
import ModelKit

/// Readers cut a server's words to a length that a sentence can hold. A secret that the cut goes through could not be
/// recognised any more, so secrets are taken out before the words are read for an error.
extension ServerAccess {
    /// What a server sent, without secrets.
    func clean(_ body: [UInt8]) -> [UInt8] {
        guard let json = try? JSON(parsing: body, reading: .stream) else {
            // It is no JSON, which is no failure here: errors come in all forms.
            return Array(redactor.redact(String(decoding: body, as: UTF8.self)).utf8)
        }
        return Array(redactor.redact(json).text().utf8)
    }

    /// The same error as the event gives without its secrets.
    func clean(_ error: DialectError, _ name: String, _ data: [UInt8], _ dialect: some Dialect) -> DialectError {
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        do throws(DialectError) {
            try reader.receive(name, clean(data), into: &events)
        } catch let clean {
            return clean
        }
        return error
    }

    /// The same for an answer that came as a whole.
    func clean(_ error: DialectError, _ body: [UInt8], _ dialect: some Dialect) -> DialectError {
        var events: [ChatEvent] = []
        do throws(DialectError) {
            _ = try dialect.answer(in: clean(body), into: &events)
        } catch let clean {
            return clean
        }
        return error
    }
}
