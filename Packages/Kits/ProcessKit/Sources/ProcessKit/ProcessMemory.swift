import CProcessKit

/// The memory of this process.
public enum ProcessMemory {
    /// Excludes the memory from core dumps and blocks other processes of the same user, which could otherwise read
    /// secrets in it. Children that run another program are not affected.
    public static func hide() {
        processkit_hide_memory()
    }
}
