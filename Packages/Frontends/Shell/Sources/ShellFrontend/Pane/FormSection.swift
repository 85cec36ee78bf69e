import Capabilities
import JSON
import Screens
import TerminalKit

/// A form as one line that opens it.
struct FormSection: OneRowSection {
    let path: [String]
    let form: Form

    init(_ path: [String], _ form: Form) {
        self.path = path
        self.form = form
    }

    /// Leads to the action with its values.
    var link: Link { .action(form.action, form.submit, form.values.asArguments) }
    var count: Int { form.values.count + 1 }
    func id(of item: Int) -> String? { item == form.values.count ? "submit" : nil }
    func item(_ id: String) -> Int? { id == "submit" ? form.values.count : nil }

    func line(of item: Int, columns: Int, _ look: PaneLook) -> StyledText { line(of: item).truncated(to: columns) }
    func text(of item: Int, _ look: PaneLook) -> String { line(of: item).plainText }

    private func line(of item: Int) -> StyledText {
        guard item < form.values.count else {
            return StyledText("[ \(form.submit)… ]", Style(.ring, bold: true)).onOneLine
        }
        let (name, value) = form.values.map { ($0.key, $0.value) }[item]
        let line = StyledText("\(name)  ", Style(.mutedForeground)) + StyledText(value.string ?? value.text())
        return line.onOneLine
    }
}

extension JSONObject {
    fileprivate var asArguments: [String: Link.Argument] {
        Dictionary(map { ($0.key, Link.Argument.value($0.value)) }, uniquingKeysWith: { $1 })
    }
}
