import CCMarkGFM
import Synchronization

/// The state that libcmark-gfm shares between all parsers of the process.
///
/// The list of extensions is filled once, and a parser that reads inlines writes into global tables which characters
/// are special to its extensions. Neither is guarded by the library, so one parser works at a time.
enum MarkdownLibrary {
    private static let isRegistered = Mutex(false)

    static func exclusively(_ body: () -> Void) {
        isRegistered.withLock { isRegistered in
            if !isRegistered {
                cmark_gfm_core_extensions_ensure_registered()
                isRegistered = true
            }
            body()
        }
    }
}
