import Glibc
// Beside other packages, the compiler finds `timespec` there first.
import SwiftOverlayShims

/// The processor time of this thread alone in seconds, so that nothing else on the machine counts.
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
