import Capabilities
import Glibc
import Testing

@Suite("SystemError")
struct SystemErrorTests {
    @Test(
        "An error number describes itself in the system's words",
        arguments: [
            (ENOENT, "No such file or directory"), (EACCES, "Permission denied"), (EINTR, "Interrupted system call"),
        ])
    func words(number: Int32, words: String) {
        #expect("\(SystemError(number))" == words)
    }

    @Test("An error number that the system does not know is named")
    func unknown() {
        #expect("\(SystemError(12_345))" == "Unknown error 12345")
    }
}
