#!/usr/bin/perl
# Attaches N devices, one after the other: each gets a link dev/diskI to the device, with the lowest I that is free.
# usage: attach.pl rescan|once N
#
# "rescan" finds out which I are taken by reading all links there are, for each device again.
# "once" remembers what it has given away.
use strict;
use warnings;

my ($way, $devices) = @ARGV;
my %given;

sub read_links {
    my %links;
    opendir my $folder, "dev" or die "dev: $!";
    for my $name (grep { /^disk/ } readdir $folder) {
        $links{$name} = readlink "dev/$name" or die "dev/$name: $!";
    }
    closedir $folder;
    return \%links;
}

for my $device (1 .. $devices) {
    my $links = $way eq "rescan" ? read_links() : \%given;
    my $free = 0;
    $free++ while $links->{"disk$free"};
    my $target = "../devices/ctrl0/target$device";
    symlink $target, "dev/disk$free" or die "dev/disk$free: $!";
    $given{"disk$free"} = $target;
}
