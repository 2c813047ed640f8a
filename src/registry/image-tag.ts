/** The tag of an image's full name; `latest` where it has none, as everywhere. */
export function imageTag(image: string): string {
  const [name = ''] = image.split('@')
  return /:([\w.-]+)$/.exec(name)?.[1] ?? 'latest'
}
