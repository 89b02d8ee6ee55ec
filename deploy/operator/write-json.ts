// Of these, JSON itself escapes none. The set is fixed, unlike Unicode's classes: another version must write the same.
const steering = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** JSON in one line, in which no text of others steers a terminal or hides a part of itself. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value).replace(steering, (symbol) => `\\u${symbol.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
