/**
 * What each event of an object does to permissions. It is a `part` of what the state says, it says `alone` what counts
 * from then on, or it changes only what no permission depends on, such as a name: `none`. Explanations read the history
 * of an object by it.
 */
export type Effects<Event extends { type: string }> = Readonly<Record<Event['type'], 'part' | 'alone' | 'none'>>
