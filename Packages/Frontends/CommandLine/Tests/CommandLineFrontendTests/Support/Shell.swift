import Glibc

struct ShellFailure: Error {
    let message: String
}

/// Whether a shell command that checks for a program succeeds.
func isInstalled(_ check: String) -> Bool {
    unsafe system("(\(check)) >/dev/null 2>&1") == 0
}

/// The output and the exit status of a command that gets `text` as its input.
func output(of command: String, given text: String) throws -> (text: String, status: Int32) {
    var template = Array("/tmp/reference-XXXXXX".utf8CString)
    let file = unsafe mkstemp(&template)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer {
        close(file)
        unsafe unlink(path)
    }
    guard file >= 0, unsafe write(file, text, text.utf8.count) == text.utf8.count else {
        throw ShellFailure(message: "\(path) could not be written: \(errno)")
    }
    guard let pipe = unsafe popen("\(command) < \(path) 2>&1", "r") else {
        throw ShellFailure(message: "\(command) could not be run: \(errno)")
    }
    var bytes: [UInt8] = []
    var byte = unsafe fgetc(pipe)
    while byte != EOF {
        bytes.append(UInt8(truncatingIfNeeded: byte))
        byte = unsafe fgetc(pipe)
    }
    return (String(decoding: bytes, as: UTF8.self), unsafe pclose(pipe))
}
