import Glibc
// If other packages are imported, the compiler would otherwise find another `timespec`.
import SwiftOverlayShims

/// The processor time of this thread in seconds, unaffected by other load on the machine.
public func threadSeconds(_ body: () -> Void) -> Double {
    func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    body()
    return now() - start
}
