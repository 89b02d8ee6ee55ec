import type { Setting } from './config/read-config.ts'
import { readSettingFile } from './config/setting-file.ts'
import type { Log } from './log.ts'

/**
 * A setting that may change while the process runs. `current` and `refresh` give the same object until its text
 * changes.
 */
export interface ReloadedSetting<T> {
  /** The value; at most a second old. */
  current(): T
  /** The value as it is now. */
  refresh(): T
}

const maxAge = 1000

/**
 * A setting that is reloaded from the file that it came from. A setting that came from a variable never changes. Where
 * the file cannot be read or parsed, the setting keeps its value and the log says so.
 */
export function reloadedSetting<T>(read: (text: string) => T): Setting<(log: Log) => ReloadedSetting<T>> {
  return {
    read(text, file) {
      const first = read(text)
      return (log) => (file === undefined ? constant(first) : reload(file, read, { text, value: first }, log))
    },
  }
}

function constant<T>(value: T): ReloadedSetting<T> {
  return { current: () => value, refresh: () => value }
}

function reload<T>(
  file: string,
  read: (text: string) => T,
  known: { text: string; value: T },
  log: Log,
): ReloadedSetting<T> {
  let lookedAt = performance.now()
  let problem = ''

  function refresh(): T {
    lookedAt = performance.now()
    try {
      const text = readSettingFile(file)
      if (text !== known.text) {
        known = { text, value: read(text) }
        log.info({ file }, 'a setting changed with its file')
      }
      problem = ''
    } catch (error) {
      // Log a problem once, not every second.
      if (problem !== String(error)) log.error({ err: error, file }, 'a setting keeps its former value')
      problem = String(error)
    }
    return known.value
  }

  return { current: () => (performance.now() - lookedAt < maxAge ? known.value : refresh()), refresh }
}
