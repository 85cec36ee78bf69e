import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import TurnLoop

/// `martlet chat picture`: shows a picture of a conversation, which was sent or given by a tool, where pictures can be shown, or saves it.
struct PictureAction {
    let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    var all: [Action] { [picture] }

    private var picture: Action {
        Action(
            "chat.picture", "Show a picture of a conversation, or save it", .writes,
            HistoryActions.newest,
            .option("number", "Which one, counted from the newest", in: 1...10_000, default: 1),
            .option("save", "Write it to this file instead of showing it", as: WritePath?.self)
        ) { context, prefix, number, file in
            let conversation = try await HistoryActions(services).find(prefix)
            let pictures = try await services.history.entries(of: conversation.id).flatMap(\.message.pictures)
            guard let found = pictures.dropLast(number - 1).last else {
                throw PictureFailure(count: pictures.count, number: number)
            }
            let size = ByteCount(found.bytes.count).words
            if let file {
                let path = try context.path(file)
                try path.write(found.bytes)
                return "\(PlainText.escape(found.name)) is saved as \(PlainText.escape(path.absolute)), \(size)"
            }
            let which = number == 1 ? "" : " --number \(number)"
            let saving = "'martlet chat picture \(conversation.id.tag)\(which) --save FILE' saves it"
            try await context.emit(
                Picture.kind.event(Picture(found.name, found.mediaType, found.bytes, saving: saving)))
            // The command first: a narrow shell cuts the line.
            return "\(saving): \(PlainText.escape(found.name)), \(PlainText.escape(found.mediaType)), \(size)"
        }
        .streaming([Picture.kind.declaration])
        .example("martlet chat picture 7f3q --save plan.png", "Save the newest picture of a conversation")
        .details(
            "The shell shows a PNG of at most 4 MB on terminals with kitty's graphics protocol: kitty, ghostty and WezTerm."
        )
    }
}

extension Message {
    /// The pictures that are attached to it, or that tools gave.
    var pictures: [Attachment] {
        parts.flatMap { part -> [Attachment] in
            switch part {
            case .attachment(let file): file.isImage ? [file] : []
            case .result(let result): result.images
            default: []
            }
        }
    }
}

/// A conversation without that picture.
struct PictureFailure: Failure {
    let count: Int
    let number: Int

    var code: String { "chat.no-picture" }
    var exit: ExitCode { .usage }
    var message: String {
        count == 0
            ? "there is no picture in this conversation; --file attaches one to a message"
            : "there is no picture \(number) in this conversation, which has \(count)"
    }
}
