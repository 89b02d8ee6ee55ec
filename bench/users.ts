/** Adds so many humans with a verified address. Gives their ids. */
export async function addHumans({ url, token }: { url: string; token: string }, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `bench-${index}`)
  for (const userId of ids) {
    const answer = await fetch(`${url}/v2/users/human`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        userId,
        userName: userId,
        profile: { firstName: 'Bench', lastName: userId, preferredLanguage: 'en' },
        email: { email: `${userId}@example.com`, isVerified: true },
      }),
    })
    if (!answer.ok) throw new Error(`a user could not be added: ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  return ids
}
