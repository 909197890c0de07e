import Endpoints
import HookSandbox
import Settings
import Sharing

/// The parts of the kernel that restrict handlers.
struct SandboxCheck: DoctorCheck {
    let name = "sandbox"
    /// Asks the kernel.
    var support: @Sendable () -> HookSandbox.Support = { HookSandbox.support }

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let support = support()
        if support.abi == 0, scene.settings.requiresSandbox {
            return [
                .problem(
                    "\(support); handlers are not run, because sandbox is require",
                    hint: "use a kernel with Landlock (boot option lsm=landlock,…), or set sandbox to prefer")
            ]
        }
        if !support.gaps.isEmpty {
            return [
                .warning(
                    "\(support)",
                    hint: "use a newer kernel with Landlock, or install only handlers that you trust with everything")
            ]
        }
        return [.ok("\(support)")]
    }
}
