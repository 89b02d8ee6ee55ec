import { readFileSync } from 'node:fs'

/**
 * Reads the text of a setting from a file, without the blanks around it. Throws where the file cannot be read, is
 * empty, or is not in UTF-8, such as one that PowerShell's `>` wrote in UTF-16.
 */
export function readSettingFile(file: string): string {
  const text = decode(readFileSync(file)).trim()
  if (text === '') throw new SettingFileError('is empty')
  return text
}

/** The file was read, but holds no setting. Its message says why, and shows nothing of the file. */
export class SettingFileError extends Error {}

function decode(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // ASCII in UTF-16 without a mark at its begin is valid UTF-8, in which every other character is NUL.
    if (!text.includes('\0')) return text
  } catch {
    // Not in UTF-8.
  }
  throw new SettingFileError('is not in UTF-8')
}
