import Glibc

extension Terminal {
    /// Writes all of `text`; what cannot be written is dropped, since nobody is there to read it.
    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fileDescriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes.removeFirst(count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&ready, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
