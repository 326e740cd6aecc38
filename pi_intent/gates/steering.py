"""Variables that say what a program runs, loads, or where it looks: no credential belongs there, and each is code."""

from __future__ import annotations

import re

from pi_intent.word_sets import word_set

LOADED = word_set(
    "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PROMPT_COMMAND PYTHONSTARTUP PERL5OPT RUBYOPT "
    "GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS"
)
"""Those that have code run whatever their value."""

RUN = word_set(
    "BAT_PAGER AWS_PAGER GH_PAGER KUBE_EDITOR GH_EDITOR SUDO_ASKPASS LESSCLOSE GIT_CONFIG_SYSTEM "
    "RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER"
)
"""Those whose values are run or name a file of settings, besides those of `own_commands`."""

FOLDERS = word_set("PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH GIT_EXEC_PATH GIT_TEMPLATE_DIR ZDOTDIR")
"""Those that name folders in which programs, libraries, hooks or a shell's first file are looked for."""

HOMES = word_set("HOME XDG_CONFIG_HOME")
"""Those that name the folder in which a program looks for the settings of a user."""

_JAVA = re.compile(r"-(?:javaagent|agentlib|agentpath|Xbootclasspath|XX:OnError|XX:OnOutOfMemoryError)")
BY_OPTION = {
    "NODE_OPTIONS": re.compile(r"(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader))(?:=|\s*)(?=[./~$])"),
    "GOFLAGS": re.compile(r"-(?:toolexec|exec|overlay)\b"),
    **dict.fromkeys(("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"), _JAVA),
}
"""Those that have code run by an option in their values."""

STEERING = LOADED | RUN | FOLDERS | HOMES | {*BY_OPTION}
